"""The whole pipeline: image and anchors, through foundation, gate, fit and head, to metric depth."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrac import registry
from mrac.anchors import Anchors
from mrac.anchors._validity import Usable, usable
from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.fit.base import Fit
from mrac.foundation._cached import CacheUse, predict
from mrac.foundation.base import Foundation
from mrac.gate.base import Gate, with_confidence
from mrac.gp.features import ImageAppearance
from mrac.head.base import Head, Scene
from mrac.methods import Method
from mrac.relative import fill_invalid, in_space, sample_bilinear, typical_range, without_relative
from mrac.result import MetricDepth, Verdicts
from mrac.runtime.cache import PredictionCache
from mrac.space import Space, as_space
from mrac.types import WORST_SCORE, GateResult, RelativeDepth, Samples


class Calibrator:
    """Turns an image and sparse metric anchors, some of them wrong, into dense metric depth.

    A method names a choice for every stage; each can be overridden by a name (`"ransac"`), a name with options
    (`"theil_sen_mad:kappa=3"`) or an instance. A calibrator holds parameters only: it can be shared by threads.

    Args:
        method: a name from `mrac list methods`.
        foundation: where relative depth comes from, unless a call brings its own.
        gate: which anchors are inliers, and their weights.
        fit: the relation from relative to metric depth.
        head: from the fit to dense depth.
        space: in which the relation is fitted: `depth`, `inverse_depth`, `log_depth`. None takes the method's, or else
            that of the relative depth.
        cache: a store, or the folder of one, for the foundation's predictions; None keeps none, which is right for
            video, where no frame comes twice.

    Raises:
        ContractError: a name or an option is unknown.
    """

    def __init__(
        self,
        method: str = "default",
        *,
        foundation: str | Foundation | None = None,
        gate: str | Gate | None = None,
        fit: str | Fit | None = None,
        head: str | Head | None = None,
        space: str | None = None,
        cache: PredictionCache | Path | str | None = None,
    ) -> None:
        preset: Method = registry.load("method", method)
        self.method = method
        self.foundation: Foundation = _stage("foundation", preset.foundation if foundation is None else foundation)
        self.gate: Gate = _stage("gate", preset.gate if gate is None else gate)
        self.fit: Fit = _stage("fit", preset.fit if fit is None else fit)
        self.head: Head = _stage("head", preset.head if head is None else head)
        chosen = space or preset.space
        self.space: Space | None = as_space(chosen) if chosen else None
        self.cache = PredictionCache(cache) if isinstance(cache, Path | str) else cache

    def __call__(self, image: ImageArray, anchors: Anchors, relative: RelativeDepth | None = None) -> MetricDepth:
        """Calibrates one frame.

        Args:
            image: (H, W, 3) uint8 RGB.
            anchors: K readings; unusable ones are judged, not refused. K = 0 gives a prior, named in the status.
            relative: (H, W) relative depth, in place of the foundation's.

        Returns:
            Depth and deviation for every pixel and a verdict on every anchor; see `MetricDepth`.

        Raises:
            ContractError: the image is not (H, W, 3) uint8, the relative field has another size or no finite value, or
                there are anchors but none of them is usable.
        """
        check_image(image)
        given = relative is not None
        cache: CacheUse = "off"
        timings: dict[str, float] = {}
        with _timed(timings, "foundation"):
            if not given:
                relative, cache = self._predict(image)
            if relative is not None and self.space is not None:
                relative = in_space(relative, self.space)
            field, has_value = _checked_field(relative, image)
        with _timed(timings, "anchors"):
            used = usable(anchors, (image.shape[0], image.shape[1]), has_value)
            samples = self._samples(used, relative, field)
        appearance = ImageAppearance(image)
        with _timed(timings, "gate"):
            gated = with_confidence(self.gate(samples, appearance, field), used.readings.confidence)
            samples = replace(samples, features=gated.features)
            if not gated.use_relative:  # the depth is then that of a call without a foundation
                field, samples = None, without_relative(samples, self.space or "log_depth")
        with _timed(timings, "fit"):
            fit = self.fit(samples.keep(gated.for_fit, gated.weight))
        with _timed(timings, "head"):
            dense = self.head(Scene(image, field, samples.keep(gated.for_head, gated.weight), fit, appearance))
        stages = {stage: getattr(self, stage) for stage in ("foundation", "gate", "fit", "head")}
        names = {stage: registry.stage_name(implementation) for stage, implementation in stages.items()}
        return MetricDepth(
            depth_m=dense.depth_m,
            sigma_m=dense.sigma_m,
            anchors=_verdicts(used, gated),
            status=next((s for s in (fit.status, gated.status, dense.status) if s != "ok"), "ok"),
            fit=fit,
            space=samples.space,
            stages={"method": self.method, **names, **({"foundation": "given"} if given else {})},
            options={stage: registry.stage_options(implementation) for stage, implementation in stages.items()},
            timings_ms=timings,
            cache=cache,
        )

    def _predict(self, image: ImageArray) -> tuple[RelativeDepth | None, CacheUse]:
        return (self.foundation(image), "off") if self.cache is None else predict(self.foundation, image, self.cache)

    def _samples(self, used: Usable, relative: RelativeDepth | None, field: FloatArray | None) -> Samples:
        """The usable readings, one per pixel, with the relative field (H, W) sampled at each of them."""
        readings, reason = used.readings, used.reason
        if reason.size and not len(readings):
            counted = zip(*np.unique(reason, return_counts=True), strict=True)
            found = ", ".join(f"{word} ×{n}" for word, n in counted)
            raise ContractError(f"anchors: none of the {reason.size} is usable ({found}); at least one is needed")
        return Samples(
            uv_px=readings.uv_px,
            z_m=readings.z_m,
            x=None if field is None else sample_bilinear(field, readings.uv_px),
            space=self.space or (relative.space if relative is not None else "log_depth"),
            native=relative is not None and self.space in (None, relative.space),
            weight=np.ones(len(readings)),
            noise_m=readings.sigma_m,
            x_range=None if field is None else typical_range(field),
        )


def _checked_field(relative: RelativeDepth | None, image: ImageArray) -> tuple[FloatArray | None, BoolArray | None]:
    """The relative field made finite, and where it had values of its own; two Nones without one."""
    if relative is None:
        return None, None
    if relative.values.shape != image.shape[:2]:
        raise ContractError(
            f"RelativeDepth.values: shape {relative.values.shape} arrived, the image's {image.shape[:2]} is needed"
        )
    return fill_invalid(relative)


def check_image(image: object) -> None:
    """Raises `ContractError`, which says how to convert it, unless `image` is a non-empty (H, W, 3) uint8 array."""
    if not isinstance(image, np.ndarray):
        hint = "; np.asarray(picture.convert('RGB')) makes one of a Pillow image" if hasattr(image, "convert") else ""
        raise ContractError(f"image: an (H, W, 3) uint8 array is needed, {type(image).__name__} arrived{hint}")
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        arrived = f"{image.dtype} of shape {image.shape}"
        raise ContractError(f"image: an (H, W, 3) uint8 array is needed, {arrived} arrived{_remedy(image)}")
    if image.size == 0:
        raise ContractError(f"image: at least one pixel is needed, shape {image.shape} arrived")


def _remedy(image: NDArray[Any]) -> str:
    """How to convert the image, where that is clear; converting silently would turn a mistake into a dark picture."""
    steps = []
    if image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 1):
        steps.append("np.dstack([image] * 3) for grey")
    elif image.ndim == 3 and image.shape[2] == 4:
        steps.append("image[..., :3] to drop alpha")
    elif image.ndim == 3 and image.shape[0] == 3:
        steps.append("image.transpose(1, 2, 0) for channels first")
    if image.dtype == np.uint16:
        steps.append("(image // 257).astype(np.uint8) for 16 bits")
    elif image.dtype.kind == "f":
        steps.append("np.rint(image * 255).astype(np.uint8) for floats from 0 to 1")
    elif image.dtype == np.bool_:
        steps.append("image.astype(np.uint8) * 255 for black and white")
    return f"; {', '.join(steps)}" if steps else ""


def _verdicts(used: Usable, gated: GateResult) -> Verdicts:
    """The gate's verdicts on the readings it saw, for every anchor: those merged into one reading share its verdict."""
    K, seen = used.reason.size, used.place >= 0
    place = used.place[seen]
    keep, score, outlier, weight = np.zeros(K, np.bool_), np.full(K, WORST_SCORE), np.ones(K), np.zeros(K)
    reason = used.reason.astype("<U32")
    keep[seen], score[seen], weight[seen] = gated.keep[place], gated.score[place], gated.weight[place]
    outlier[seen] = (1.0 - gated.weight if gated.outlier_probability is None else gated.outlier_probability)[place]
    reason[seen] = gated.reason[place]
    return Verdicts(keep, score, outlier, weight, reason)


def _stage(stage: str, choice: Any) -> Any:
    return registry.create(stage, choice) if isinstance(choice, str) else choice


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    timings[stage] = (time.perf_counter() - start) * 1e3
