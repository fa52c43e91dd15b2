"""Whether a method may be trusted under a condition: right readings kept, error, coverage, what the status says."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

OWN: Final = "default"
NO_GATE: Final = "default;gate=none"
NO_NETWORK: Final = "default;foundation=none"
_MAX_RATIO: Final = 1.03  # of AbsRel to what it must not exceed


@dataclass(frozen=True)
class Trust:
    """Means over the images of one cell, or of several.

    Attributes:
        num_images: with an answer.
        num_failed: without.
        kept: share of the right readings that were kept, mean over images; NaN where no reading is right.
        abs_rel: mean.
        coverage: of the 90 % interval, mean.
        statuses: how many images have which.
    """

    num_images: int
    num_failed: int
    kept: float
    abs_rel: float
    coverage: float
    statuses: Counter[str]

    @property
    def not_ok(self) -> float:
        """The share of answered images whose status is not `ok`."""
        return 1.0 - self.statuses["ok"] / self.num_images if self.num_images else float("nan")


def trust_of(columns: Mapping[str, NDArray[Any]], rows: NDArray[np.intp]) -> Trust:
    """The means over some rows of a run, by the columns of `mrac.lab.bench.store`."""
    answered = rows[np.isfinite(columns["abs_rel"][rows])]
    wrong = columns["num_wrong"][answered]
    caught = np.nan_to_num(columns["gate_recall"][answered]) * wrong  # without a wrong reading there is no recall
    right = columns["num_anchors_given"][answered] - wrong
    rejected = columns["num_rejected"][answered] - caught
    return Trust(
        num_images=answered.size,
        num_failed=rows.size - answered.size,
        kept=1.0 - _mean(rejected[right > 0] / right[right > 0]),
        abs_rel=_mean(columns["abs_rel"][answered]),
        coverage=_mean(columns["coverage_90"][answered]),
        statuses=Counter(map(str, columns["status"][answered])),
    )


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if values.size else float("nan")


@dataclass(frozen=True)
class Bar:
    """What a method has to reach.

    Attributes:
        min_kept: share of the right readings that are kept.
        coverage: within these limits that of the 90 % interval has to be.
    """

    min_kept: float
    coverage: tuple[float, float] = (0.0, 1.0)

    def missed(self, trust: Trust, others: Sequence[float]) -> tuple[str, ...]:
        """Which of `kept`, `AbsRel` and `coverage` fall short; what is NaN does.

        Args:
            trust: of the method.
            others: AbsRel of its rivals; the method may be 3 % above the best of them.
        """
        low, high = self.coverage
        reached = {
            "kept": trust.kept >= self.min_kept,
            "AbsRel": bool(others) and all(trust.abs_rel <= _MAX_RATIO * other for other in others),
            "coverage": low <= trust.coverage <= high,
        }
        return tuple(name for name, is_reached in reached.items() if not is_reached)


SENSORS: Final = Bar(0.95, (0.85, 0.95))
"""Clean readings, wherever a sensor has them; rivals: the same without its gate, and without a network."""
FAILING: Final = Bar(0.93)
"""A foundation that fails; rival: the same without a network."""
