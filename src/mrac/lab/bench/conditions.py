"""From an image and a condition to its anchors, and which of them are wrong: the same for every method."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac import registry
from mrac.anchors import Anchors
from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.lab.bench.protocol import CLEAN, TRUTH, Condition, Protocol
from mrac.lab.data import Sample
from mrac.lab.seeds import anchors_hash, generator
from mrac.outliers import Truth

# A real reading this far off the truth, as a share of it, is wrong: what the pack's own figures count.
WRONG_SHARE: Final = 0.1
# What a manifest calls the sensors that protocols name by their kind.
_MANIFEST_NAMES: Final = {"lidar": "sensor", "stereo": "aux"}


@dataclass(frozen=True, eq=False)
class Drawn:
    """The anchors of one image under one condition.

    Attributes:
        anchors: K of them, or as many as there are.
        wrong: (K,) which of them are.
        hash: of positions and readings.
    """

    anchors: Anchors
    wrong: BoolArray
    hash: str


class Draws:
    """Draws the anchors of one image; positions that several conditions share are drawn once.

    Args:
        sample: the image.
        protocol: which has the options of the families.
        uncertainty: asked, once, for the (H, W) map that a placement wants: the standard deviation that a first
            prediction from the given anchors states.
    """

    def __init__(self, sample: Sample, protocol: Protocol, uncertainty: Callable[[Anchors], FloatArray]) -> None:
        self._sample = sample
        self._protocol = protocol
        self._uncertainty = uncertainty
        self._places: dict[tuple[str, int, int], NDArray[np.int64]] = {}
        self._readings: dict[str, tuple[Anchors, BoolArray]] = {}

    def __call__(self, condition: Condition) -> Drawn:
        """The anchors under one of the set's conditions.

        Raises:
            ContractError: no pixel is scored and measured, or the real source has no reading at any such pixel.
        """
        anchors, wrong = self._from_truth(condition) if condition.source == TRUTH else self._from_sensor(condition)
        return Drawn(anchors, wrong, anchors_hash(anchors.uv_px, anchors.z_m))

    def _rng(self, condition: Condition, *purpose: str) -> np.random.Generator:
        return generator(self._sample.dataset.seed_name, self._sample.id, condition.seed, *purpose)

    def _valid(self) -> BoolArray:
        valid = self._sample.readable
        if not valid.any():
            raise ContractError("bench: no pixel is both scored and measured")
        return valid

    def _from_truth(self, condition: Condition) -> tuple[Anchors, BoolArray]:
        uv_px = self._placed(condition, condition.placement)
        z_m = _made("placement", condition.placement).read(self._sample.truth_m, self._valid(), uv_px)
        if condition.family == CLEAN:
            return Anchors(uv_px, z_m), np.zeros(len(z_m), np.bool_)
        truth = Truth(uv_px=uv_px, z_m=z_m, truth_m=self._sample.truth_m, max_range_m=self._sample.rules.max_range_m)
        family = _made("outlier", self._protocol.family_spec(condition.family))
        # By the family's bare name: noise of twice the deviation is then the same noise, twice as large.
        rng = self._rng(condition, "outliers", condition.family.partition(":")[0])
        corrupted = family(truth, condition.fraction, rng)
        return Anchors(uv_px, corrupted.z_m), corrupted.wrong

    def _placed(self, condition: Condition, placement: str) -> NDArray[np.int64]:
        """(K, 2) positions."""
        key = placement, condition.num_anchors, condition.seed
        if key not in self._places:
            uncertainty = None
            if placement == "uncertainty_active":
                # The paper does not say how its first prediction came about: here from as many anchors, at random.
                first = self._placed(condition, "random")
                z_m = self._sample.truth_m[first[:, 1], first[:, 0]]
                uncertainty = self._uncertainty(Anchors(first, z_m))
            rng = self._rng(condition, "anchors", placement, str(condition.num_anchors))
            seen = {"image": self._sample.image, "depth_m": self._sample.truth_m}
            place = _made("placement", placement)
            self._places[key] = place(self._valid(), condition.num_anchors, rng, uncertainty, **seen)
        return self._places[key]

    def _from_sensor(self, condition: Condition) -> tuple[Anchors, BoolArray]:
        if condition.source not in self._readings:
            self._readings[condition.source] = self._judged(condition.source)
        readings, wrong = self._readings[condition.source]
        if condition.family == "natural":
            rng = self._rng(condition, "anchors", condition.source, str(condition.num_anchors))
            chosen = rng.permutation(len(readings))[: condition.num_anchors]
        else:
            rng = self._rng(condition, "outliers", condition.family, condition.source)
            bad, good = rng.permutation(np.flatnonzero(wrong)), rng.permutation(np.flatnonzero(~wrong))
            num_wrong = min(round(condition.fraction * condition.num_anchors), bad.size)
            chosen = rng.permutation(np.concatenate([bad[:num_wrong], good[: condition.num_anchors - num_wrong]]))
        sigma_m = None if readings.sigma_m is None else readings.sigma_m[chosen]
        return Anchors(readings.uv_px[chosen], readings.z_m[chosen], sigma_m), wrong[chosen]

    def _judged(self, source: str) -> tuple[Anchors, BoolArray]:
        """The readings at pixels with a truth to judge them by, and which of them are wrong."""
        sample = self._sample
        known = source in sample.sources
        readings = sample.readings(source if known else _MANIFEST_NAMES.get(source, source))
        valid, (H, W) = self._valid(), sample.truth_m.shape
        with np.errstate(invalid="ignore"):
            pixel = np.rint(readings.uv_px)
            usable = (pixel >= 0).all(axis=1) & (pixel < [W, H]).all(axis=1) & (readings.z_m > 0.0)
        u, v = np.where(usable[:, None], pixel, 0).astype(np.intp).T
        usable &= valid[v, u] & np.isfinite(readings.z_m)
        if not usable.any():
            raise ContractError(f"bench: no reading of {source} lies at a pixel that is scored and measured")
        truth_m = sample.truth_m[v, u][usable].astype(np.float64)
        sigma_m = None if readings.sigma_m is None else readings.sigma_m[usable]
        kept = Anchors(readings.uv_px[usable], readings.z_m[usable], sigma_m)
        return kept, np.abs(kept.z_m - truth_m) > WRONG_SHARE * truth_m


@lru_cache(maxsize=256)
def _made(kind: str, spec: str) -> Any:
    return registry.create(kind, spec)  # looks for plug-ins each time, which adds up over the images of a grid
