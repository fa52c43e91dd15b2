"""VI-Depth (Wofk et al. 2023): global alignment in inverse depth, then a network that corrects its scale per pixel."""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.head._sigma import uniform_sigma
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.space import Space
from mrac.vi_depth.alignment import PixelReadings, align, readings_on_pixels
from mrac.vi_depth.learner import Trained, open_learner
from mrac.vi_depth.predictors import predictor
from mrac.vi_depth.ranges import VOID, WIDE, Ranges
from mrac.vi_depth.refinement import refine
from mrac.vi_depth.scale_map import MIN_READINGS, scale_map


@dataclass(frozen=True, eq=False)
class LearnerInput:
    """Inputs of the scale-map learner for one scene, and what its result takes.

    Attributes:
        aligned_per_m: (H, W) inverse depth of the alignment.
        unit_scale: (H, W) scale map in [0, 1].
        readings: those in range, one per pixel.
        ranges: of depth.
    """

    aligned_per_m: FloatArray
    unit_scale: FloatArray
    readings: PixelReadings
    ranges: Ranges

    def result(self, depth_m: FloatArray) -> HeadResult:
        """The head's result, from the refined (H, W) depth."""
        return HeadResult(depth_m, _sigma_m(depth_m, self.readings))


@dataclass(frozen=True, kw_only=True)
class Sml(Head):
    """Global alignment by its own least squares, interpolated scale map, scale-map learner.

    The scene's own fit is used only where VI-Depth itself would fail:

    | scene | what is returned | status |
    |---|---|---|
    | no relative field | what `affine` gives | `no_relative_depth` |
    | fewer than three readings in range | what `affine` gives | `too_few_anchors` |
    | one relative value at all readings | what `affine` gives | `constant_relative_depth` |
    | all readings on one straight line | the alignment | `collinear_anchors` |
    | the alignment meets every reading | the alignment | `flat_scale_map` |

    VI-Depth gives no uncertainty. Ours is one share of the depth for the whole image: the root mean square of
    ln(z / depth) at the readings that were used, less the line's two degrees of freedom. The learner was given those
    readings, so between them it is optimistic.

    Attributes:
        weights: `sml_retrained`, which is ours and in the source checkout, or a file: .onnx, .safetensors, or a
            published .ckpt (the latter two need torch). Empty: the published checkpoint of `predictor`, from the folder
            that `MRAC_VI_DEPTH` names or else ~/.cache/mrac/vi_depth; without a predictor, `sml_retrained`.
        predictor: the relative-depth network that a published checkpoint was trained for. It decides only the inputs'
            statistics; empty takes them from the file, or from the name of a published one.
        budget: number of readings that a published checkpoint was trained for: 150, 500 or 1500. A scene may have any.
        min_depth_m: readings at or nearer than this are left out. None, as for the next three: what the weights were
            trained with, 0.1 to 100 m without weights. Published ones: readings from 0.2 to 5 m, depth from 0.1 to 8 m;
            outdoors both upper limits must be raised.
        max_depth_m: readings at or beyond this are left out, as VI-Depth does: give it the largest range of the sensor,
            or a sensor that reports that range where nothing came back is believed. The benchmark gives the set's.
        min_pred_m: the least depth that is predicted.
        max_pred_m: the largest depth that is predicted.
        global_alignment_only: without the learner; no weights are needed.
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
            raise ContractError(
                f"head/sml: global_alignment_only arrived with weights {self.weights!r}, predictor {self.predictor!r}; "
                "it takes no weights and no predictor: leave them out"
            )
        if self.global_alignment_only:
            self._ranges(WIDE)

    @property
    def trained_space(self) -> Space:
        """See `Head`; without weights too, since the alignment is in inverse depth."""
        return "inverse_depth"

    def for_sensor(self, max_range_m: float) -> Self:
        """This head with the largest range of a sensor as `max_depth_m`, unless it has one of its own.

        Of a published checkpoint, which predicts up to 8 m, the limit of predictions is raised along with it.
        """
        if self.max_depth_m is not None:
            return self
        pred_m = self.max_pred_m
        if pred_m is None and self.predictor:
            pred_m = max(VOID.max_pred_m, max_range_m)
        return replace(self, max_depth_m=max_range_m, max_pred_m=pred_m)

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`.

        Raises:
            ContractError: the weights are missing (the message names the file to get) or damaged; their ranges
                conflict with the ones chosen here; or the fit is in another space than inverse depth.
            MissingExtra: the weights need torch, which is not installed.
        """
        trained = self.trained()
        inputs = self.learner_input(scene, trained)
        if isinstance(inputs, HeadResult):
            return inputs
        assert trained is not None  # without one there is no input for it
        inv_z_per_m = refine(
            inputs.aligned_per_m, inputs.unit_scale, trained.standardisation, inputs.ranges, trained.learner
        )
        return inputs.result(inputs.ranges.depth_m(inv_z_per_m))

    def trained(self) -> Trained | None:
        """The learner, or None with `global_alignment_only`; raises as `__call__` does."""
        return None if self.global_alignment_only else open_learner(self.weights, self.predictor, self.budget)

    def learner_input(self, scene: Scene, trained: Trained | None) -> LearnerInput | HeadResult:
        """The learner's inputs; or the head's result, where the learner is not run."""
        ranges = self._ranges(WIDE if trained is None else trained.ranges)
        if scene.relative is None:
            return Affine()(scene)
        if scene.samples.space != self.trained_space:
            raise ContractError(
                f"head/sml: the fit is in {scene.samples.space}; VI-Depth works in {self.trained_space}: choose "
                f"space={self.trained_space!r} (--space {self.trained_space})"
            )
        kept = scene.samples.inliers
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
                return LearnerInput(aligned_per_m, scales.unit, readings, ranges)
            status = scales.status
        depth_m = ranges.depth_m(aligned_per_m)
        return HeadResult(depth_m, _sigma_m(depth_m, readings), status)

    def _ranges(self, own: Ranges) -> Ranges:
        chosen = {field.name: getattr(self, field.name) for field in fields(Ranges)}
        return replace(own, **{name: value for name, value in chosen.items() if value is not None})


def _sigma_m(depth_m: FloatArray, readings: PixelReadings) -> FloatArray:
    """(H, W) standard deviation from the log residuals of (H, W) depth at the readings, K >= 3."""
    log_ratio = np.log(readings.inv_z_per_m.astype(np.float64) * readings.at(depth_m))
    return uniform_sigma(depth_m, float(np.sqrt((log_ratio @ log_ratio) / (len(readings) - 2))))


IMPLEMENTATION = Sml
