"""Draws training scenes for the learned gate: readings, what the plain gate finds of each, and the true depth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gate.consensus import Consensus, divided
from mrac.gate.consensus.classifier import local_range, reading_features
from mrac.gp.features import LengthScales, PixelFeatures
from mrac.head.kriging import range_at
from mrac.lab.train.gate.depth_loss import Target
from mrac.lab.train.gate.draw_fields import failing, with_fault
from mrac.lab.train.gate.draw_places import choose_pixels
from mrac.lab.train.gate.draw_readings import AS_THEY_COME, FAMILIES, SCAN_SHARE, DrawnReadings, draw
from mrac.lab.train.gate.frames import GateFrame
from mrac.relative import sample_bilinear
from mrac.types import Samples

_SHARES: Final = (0.05, 0.1, 0.25, 0.4)  # of wrong readings
_UNTOUCHED: Final = 0.3  # of a sensor's scenes: as many are wrong as there are
_FAULTY: Final = 0.2  # of the scenes: the foundation has a fault
_FAILING: Final = 0.12  # and of these it fails as a whole
_QUANTISED: Final = 0.15  # of the scenes: the sensor has coarse steps, so that values repeat
_PER_PATCH: Final = 8  # scenes for each one more in which a patch of neighbours is wrong as a whole
_PATCH_SHARES: Final = (0.05, 0.1, 0.25)
_BLIND: Final = 0.08  # of the scenes: nobody looked beside the readings
_NUM_COMPARED: Final = 64  # pixels of a scene at which depth is compared with the truth


class GateScene(NamedTuple):
    """Readings that were judged together.

    Attributes:
        inputs: (K, F) float32, in the order of `names`.
        wrong: (K,) float32, 0 or 1.
        names: of the inputs.
        target: what depth should come of them.
    """

    inputs: NDArray[np.float32]
    wrong: NDArray[np.float32]
    names: tuple[str, ...]
    target: Target


@dataclass(frozen=True, kw_only=True)
class ScenePlan:
    """How many scenes are drawn. Sets differ in size by a factor of twenty, and none should go unheard.

    Attributes:
        per_set: scenes of each set, and `upside_down` more of the same pictures turned over.
        most: of one frame, and of one that is turned over.
        turned: frames of a set that are turned over.
    """

    per_set: int = 6000
    upside_down: int = 1600
    most: tuple[int, int] = (130, 55)
    turned: int = 100

    def num_each(self, num_frames: int, upside_down: bool) -> int:
        """Scenes of each of so many frames."""
        total = self.upside_down if upside_down else self.per_set
        return min(-(-total // max(num_frames, 1)), self.most[upside_down])


def scenes(frame: GateFrame, num: int, seed: Sequence[int]) -> list[GateScene]:
    """About `num` scenes of one frame; more where one of them is judged in groups."""
    return list(_scenes(frame, num, np.random.default_rng(seed)))


def _scenes(frame: GateFrame, num: int, rng: np.random.Generator) -> Iterator[GateScene]:
    whole = PixelFeatures(frame.appearance, frame.field, LengthScales())
    families, often = list(FAMILIES), np.array(list(FAMILIES.values()))
    for _ in range(num):
        family = families[int(rng.choice(len(families), p=often / often.sum()))]
        if frame.scan_m is not None and rng.random() < SCAN_SHARE:
            family = "scan"
        share = 0.0 if family == "clean" else float(rng.choice(_SHARES))
        if family in AS_THEY_COME and rng.random() < _UNTOUCHED:
            share = -1.0
        field, features = frame.field, whole
        if (kind := rng.random()) < _FAULTY + _FAILING:
            field = with_fault(frame, rng) if kind < _FAULTY else failing(frame, rng)
            features = PixelFeatures(frame.appearance, field, LengthScales())
        if family == "matched":
            frame.stereo_m  # noqa: B018  (computed once, not for each choice of pixels)
        drawn = draw(frame.within(choose_pixels(frame, rng)), family, share, _count(rng), rng)
        if rng.random() < _QUANTISED:
            drawn = drawn.quantised(rng)
        if drawn.pixels.size >= 3:
            yield from _judged(drawn, frame, field, features, rng)
    for _ in range(num // _PER_PATCH):
        drawn = draw(frame, "patch", float(rng.choice(_PATCH_SHARES)), _count(rng), rng)
        if drawn.pixels.size >= 3:
            yield from _judged(drawn, frame, frame.field, whole, rng)


def _count(rng: np.random.Generator) -> int:
    """Often 50, any number from 5 to 160, now and then more than are judged together."""
    kind = rng.random()
    if kind < 0.04:
        return int(rng.integers(200, 450))
    return 50 if kind < 0.52 else int(np.exp(rng.uniform(np.log(5.0), np.log(160.0))))


def _judged(
    drawn: DrawnReadings, frame: GateFrame, field: FloatArray, features: PixelFeatures, rng: np.random.Generator
) -> Iterator[GateScene]:
    """What the plain gate finds, group by group, `field` being what stands for the frame's."""
    uv_px = frame.uv_px(drawn.pixels)
    x = sample_bilinear(field, uv_px)
    samples = Samples(
        uv_px=uv_px,
        z_m=drawn.z_m,
        x=x,
        space="log_depth",
        native=True,
        weight=np.ones(x.size),
    )
    around = None if rng.random() < _BLIND else local_range(field, uv_px)
    target = _target(samples, frame, field, rng)
    groups, gate = divided(len(samples)), Consensus()
    judged = gate.judge_groups(samples, groups, seen := features.at(uv_px, x), around)
    if gate.judge_alone(samples, groups, seen, judged[0]):
        return  # where the readings contradict the network, the classifier is not asked
    for group, part in zip(groups, judged, strict=True):
        found = reading_features(part)
        inputs = np.stack(list(found.values()), axis=1).astype(np.float32)
        own = target._replace(features=target.features[group], x=target.x[group], log_z=target.log_z[group])
        yield GateScene(inputs, drawn.wrong[group].astype(np.float32), tuple(found), own)


def _target(samples: Samples, frame: GateFrame, field: FloatArray, rng: np.random.Generator) -> Target:
    """All readings, and pixels drawn from those that have a truth."""
    assert samples.x is not None
    as_head = PixelFeatures(frame.appearance, field, LengthScales(), range_at(samples))
    pixels = rng.choice(frame.pixels, _NUM_COMPARED)
    uv_px = frame.uv_px(pixels)
    x = sample_bilinear(field, uv_px)
    parts = (
        as_head.at(samples.uv_px, samples.x),
        samples.x,
        np.log(samples.z_m),
        as_head.at(uv_px, x),
        x,
        np.log(frame.z_m.ravel()[pixels]),
    )
    return Target(*(part.astype(np.float32) for part in parts))
