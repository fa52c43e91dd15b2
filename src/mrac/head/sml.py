"""VI-Depth (Wofk et al. 2023): one line in inverse depth, then a network that corrects its scale pixel by pixel."""

from dataclasses import dataclass, fields, replace

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.head.affine import SIGMA_SHARE, Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.space import Space
from mrac.vi_depth.alignment import PixelReadings, align, readings_on_pixels
from mrac.vi_depth.learner import Trained, open_learner
from mrac.vi_depth.predictors import predictor
from mrac.vi_depth.ranges import WIDE, Ranges
from mrac.vi_depth.refinement import refine
from mrac.vi_depth.scale_map import MIN_READINGS, scale_map


@dataclass(frozen=True, eq=False)
class BeforeLearner:
    """A scene that the learner refines.

    Attributes:
        aligned_per_m: (H, W) inverse depth of the alignment.
        unit_scale: (H, W) scale map in [0, 1].
        readings: that count.
        ranges: of depth.
    """

    aligned_per_m: FloatArray
    unit_scale: FloatArray
    readings: PixelReadings
    ranges: Ranges

    def result(self, depth_m: FloatArray) -> HeadResult:
        """The answer, from the refined (H, W) depth."""
        return HeadResult(depth_m, _sigma_m(depth_m, self.readings))


@dataclass(frozen=True, kw_only=True)
class Sml(Head):
    """Global alignment by its own least squares, scale map between the readings, scale-map learner.

    The fit that comes with the scene is not used but where VI-Depth itself would fail:

    | scene | what is returned | status |
    |---|---|---|
    | no relative field | what `affine` gives | `no_relative_depth` |
    | fewer than three readings in range | what `affine` gives | `too_few_anchors` |
    | one relative value at all readings | what `affine` gives | `flat_relative_depth` |
    | all readings on one straight line | the alignment | `collinear_anchors` |
    | the alignment meets every reading | the alignment | `flat_scale_map` |

    VI-Depth gives no uncertainty. Ours is one share of the depth for the whole image: the root mean square of
    ln(z / depth) at the readings that were used, with the two degrees of freedom of the line taken off. The learner has
    seen those readings, so between them it is optimistic.

    Attributes:
        weights: `sml_retrained`, which is ours and in the package, or a file: .onnx, .safetensors, or a published .ckpt
            (the latter two need torch). Empty: the published checkpoint of `predictor`, from the folder that
            `MRAC_VI_DEPTH` names or else ~/.cache/mrac/vi_depth; without a predictor, `sml_retrained`.
        predictor: the network that a published checkpoint was trained for. It decides the statistics alone; empty
            takes what the file says, or the name of a published one.
        budget: of readings that a published checkpoint was trained for: 150, 500 or 1500. Any number may be given.
        min_depth_m: readings count from here on. None, as for the next three: what the weights were trained with, 0.1
            to 100 m without weights. Published ones: readings from 0.2 to 5 m, depth from 0.1 to 8 m; outdoors both
            upper limits must be raised.
        max_depth_m: readings count up to here.
        min_pred_m: the least depth that is predicted.
        max_pred_m: the largest depth that is predicted.
        global_alignment_only: leave the learner away; no weights are needed.
    """

    weights: str = ""
    predictor: str = ""
    budget: int = 150
    min_depth_m: float | None = None
    max_depth_m: float | None = None
    min_pred_m: float | None = None
    max_pred_m: float | None = None
    global_alignment_only: bool = False

    def __post_init__(self) -> None:
        if self.predictor:
            predictor(self.predictor).standardisation(self.budget)
        if self.global_alignment_only and (self.weights or self.predictor):
            raise ContractError("Sml: global_alignment_only takes no weights and no predictor; leave them away")
        if self.global_alignment_only:
            self._ranges(WIDE)

    @property
    def trained_space(self) -> Space:
        """See `Head`; the alignment without weights too is one in inverse depth."""
        return "inverse_depth"

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`.

        Raises:
            ContractError: the weights are missing, which ones to get is said; or they are damaged, or their ranges do
                not go with the ones chosen here; or the fit is in another space than inverse depth.
            MissingExtra: the weights need torch, which is not installed.
        """
        trained = self.trained()
        before = self.before_learner(scene, trained)
        if isinstance(before, HeadResult):
            return before
        assert trained is not None  # without one there is nothing before it
        inv_z_per_m = refine(
            before.aligned_per_m, before.unit_scale, trained.standardisation, before.ranges, trained.learner
        )
        return before.result(before.ranges.depth_m(inv_z_per_m))

    def trained(self) -> Trained | None:
        """The learner, or None where it is left away; raises as `__call__` does."""
        return None if self.global_alignment_only else open_learner(self.weights, self.predictor, self.budget)

    def before_learner(self, scene: Scene, trained: Trained | None) -> "BeforeLearner | HeadResult":
        """What the learner is to refine; or the answer, where it has nothing to say."""
        ranges = self._ranges(WIDE if trained is None else trained.ranges)
        if scene.relative is None:
            return Affine()(scene)
        if scene.samples.space != self.trained_space:
            raise ContractError(
                f"head/sml: the fit is in {scene.samples.space}; VI-Depth works in {self.trained_space}: choose "
                f"space={self.trained_space!r} (--space {self.trained_space})"
            )
        kept = scene.samples.trusted
        readings = readings_on_pixels(kept.uv_px, kept.z_m, scene.shape, ranges)
        if len(readings) < MIN_READINGS:
            return replace(Affine()(scene), status="too_few_anchors")
        alignment = align(scene.relative, readings, ranges)
        if alignment.status != "ok":
            return replace(Affine()(scene), status=alignment.status)
        aligned_per_m, status = alignment.inv_z_per_m, "ok"
        if trained is not None:
            scales = scale_map(aligned_per_m, readings)
            if scales.unit is not None:
                return BeforeLearner(aligned_per_m, scales.unit, readings, ranges)
            status = scales.status
        depth_m = ranges.depth_m(aligned_per_m)
        return HeadResult(depth_m, _sigma_m(depth_m, readings), status)

    def _ranges(self, own: Ranges) -> Ranges:
        chosen = {field.name: getattr(self, field.name) for field in fields(Ranges)}
        return replace(own, **{name: value for name, value in chosen.items() if value is not None})


def _sigma_m(depth_m: FloatArray, readings: PixelReadings) -> FloatArray:
    log_ratio = np.log(readings.inv_z_per_m.astype(np.float64) * readings.at(depth_m))
    share = np.sqrt((log_ratio @ log_ratio) / (len(readings) - 2))
    return depth_m * np.float32(np.clip(share, *SIGMA_SHARE))


IMPLEMENTATION = Sml
