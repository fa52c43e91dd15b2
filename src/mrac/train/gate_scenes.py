"""Scenes for the learned gate: readings drawn, put to the plain gate, and what it found of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gate._testimony import told_of
from mrac.gate.consensus import Consensus, dealt
from mrac.likeness.features import Features, Lengths
from mrac.relative import range_beside, sample_bilinear
from mrac.train.gate_frames import GateFrame
from mrac.train.gate_readings import FAMILIES, SCAN_SHARE, Drawn, draw, with_fault
from mrac.types import Samples

_SHARES: Final = (0.05, 0.1, 0.25, 0.4)  # of wrong readings
_FAULTY: Final = 0.2  # of the scenes: the foundation has a fault
_PER_PATCH: Final = 8  # scenes for each one more in which a patch of neighbours is wrong as a whole
_PATCH_SHARES: Final = (0.05, 0.1, 0.25)
_BLIND: Final = 0.08  # of the scenes: nobody looked beside the readings


class Told(NamedTuple):
    """Readings that were judged together.

    Attributes:
        inputs: (K, F) float32, in the order of `names`.
        wrong: (K,) float32, 0 or 1.
        names: of the inputs.
    """

    inputs: NDArray[np.float32]
    wrong: NDArray[np.float32]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ScenePlan:
    """How many scenes are drawn. Sets differ in size by a factor of twenty, and none should go unheard.

    Attributes:
        per_set: scenes of each set, and `upside_down` more of the same pictures turned over.
        most: of one frame, and of one that is turned over.
        turned: frames of a set that are turned over.
    """

    per_set: int = 8800
    upside_down: int = 2800
    most: tuple[int, int] = (130, 55)
    turned: int = 100

    def num_each(self, num_frames: int, upside_down: bool) -> int:
        """Scenes of each of so many frames."""
        total = self.upside_down if upside_down else self.per_set
        return min(-(-total // max(num_frames, 1)), self.most[upside_down])


def scenes(frame: GateFrame, num: int, rng: np.random.Generator) -> Iterator[Told]:
    """About `num` scenes of one frame; more where one of them is judged in groups."""
    whole = Features(frame.looks, frame.field, Lengths())
    families, often = list(FAMILIES), np.array(list(FAMILIES.values()))
    for _ in range(num):
        family = families[int(rng.choice(len(families), p=often / often.sum()))]
        if frame.scan_m is not None and rng.random() < SCAN_SHARE:
            family = "scan"
        share = 0.0 if family == "clean" else float(rng.choice(_SHARES))
        field, alike = frame.field, whole
        if rng.random() < _FAULTY:
            field = with_fault(frame, rng)
            alike = Features(frame.looks, field, Lengths())
        drawn = draw(frame, family, share, _count(rng), rng)
        if drawn.pixels.size >= 3:
            yield from told(drawn, field, alike, blind=bool(rng.random() < _BLIND))
    for _ in range(num // _PER_PATCH):
        drawn = draw(frame, "patch", float(rng.choice(_PATCH_SHARES)), _count(rng), rng)
        if drawn.pixels.size >= 3:
            yield from told(drawn, frame.field, whole, blind=bool(rng.random() < _BLIND))


def _count(rng: np.random.Generator) -> int:
    """Often 50, any number from 5 to 160, now and then more than are judged together."""
    kind = rng.random()
    if kind < 0.04:
        return int(rng.integers(200, 450))
    return 50 if kind < 0.52 else int(np.exp(rng.uniform(np.log(5.0), np.log(160.0))))


def told(drawn: Drawn, field: FloatArray, alike: Features, blind: bool) -> Iterator[Told]:
    """What the plain gate finds, group by group."""
    uv_px = np.stack(np.unravel_index(drawn.pixels, field.shape)[::-1], axis=1).astype(np.float64)
    x = sample_bilinear(field, uv_px)
    samples = Samples(
        uv_px=uv_px,
        z_m=drawn.z_m,
        x=x,
        space="log_depth",
        native=True,
        weight=np.ones(x.size),
        alike=alike.at(uv_px, x),
        beside=None if blind else range_beside(field, uv_px),
    )
    groups = dealt(len(samples))
    for group, part in zip(groups, Consensus().parts(samples, groups), strict=True):
        found = told_of(*part)
        inputs = np.stack(list(found.values()), axis=1).astype(np.float32)
        yield Told(inputs, drawn.wrong[group].astype(np.float32), tuple(found))
