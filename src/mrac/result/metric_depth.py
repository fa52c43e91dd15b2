"""What a calibration gives: depth, its uncertainty, a verdict on every anchor."""

from dataclasses import dataclass, field
from typing import Any

from mrac import lognormal
from mrac.conventions import BoolArray, FloatArray, TextArray
from mrac.space import Space
from mrac.types import FitResult


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdict on every anchor that came in, in their order. Those merged into one reading share its verdict.

    Attributes:
        keep: (K,) whether it was taken for an inlier.
        score: (K,) residual in robust standard deviations; `WORST_SCORE` for a reading that could not be used at all.
        outlier_probability: (K,) 0 or 1 from a gate that makes hard decisions; 1 where it could not be used.
        weight: (K,) in [0, 1], by which fit and head used it.
        reason: (K,) one word: the gate's, or why it could not be used (docs/reference.md).
    """

    keep: BoolArray
    score: FloatArray
    outlier_probability: FloatArray
    weight: FloatArray
    reason: TextArray

    def __len__(self) -> int:
        return self.keep.size


@dataclass(frozen=True, eq=False)
class MetricDepth:
    """Dense metric depth with its uncertainty, a verdict on every anchor, and how it was computed.

    Attributes:
        depth_m: (H, W) float32 metres, finite and > 0 everywhere.
        sigma_m: (H, W) float32 standard deviation in metres, finite and > 0 everywhere. Depth is log-normal: this is
            half the width of the interval from one deviation of its logarithm below to one above.
        anchors: the verdict on every anchor.
        status: `ok`, or a named degradation: the fit's, else the gate's, else the head's.
        fit: on the samples of `GateResult.for_fit`, one per pixel.
        space: the space of that fit.
        stages: the name of the implementation at each; the foundation is `given` where the call brought relative depth.
        options, timings_ms: by stage, its parameters and its wall time.
        cache: `hit` where relative depth was read from disk, `miss` where it was not yet there, else `off`.
    """

    depth_m: FloatArray
    sigma_m: FloatArray
    anchors: Verdicts
    status: str
    fit: FitResult
    space: Space
    stages: dict[str, str] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    cache: str = "off"

    def probability_nearer(self, d_m: float) -> FloatArray:
        """(H, W) float32 probability that a pixel's depth is less than `d_m` metres; see `mrac.lognormal`.

        Raises:
            ContractError: `d_m` is not a finite number > 0.
        """
        return lognormal.probability_nearer(self.depth_m, self.sigma_m, d_m)

    def interval(self, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """(H, W) float32 lower and upper limit, metres, of the central interval of that probability.

        Raises:
            ContractError: `level` is not between 0 and 1.
        """
        return lognormal.interval(self.depth_m, self.sigma_m, level)
