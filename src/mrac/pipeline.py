"""The whole pipeline: image and anchors, through foundation, gate, fit and head, to metric depth."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from mrac import registry
from mrac.anchors import Anchors
from mrac.anchors._validity import Usable
from mrac.arguments import as_cache, as_stage, check_call
from mrac.beforehand import Beforehand
from mrac.call_log import logged, timed
from mrac.camera import Camera
from mrac.checks import Evidence, Finding, find_mistakes, fix
from mrac.config import arguments, cache_table, stage_spec, stage_table, write_config
from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.fit.base import Fit
from mrac.foundation._cached import CacheUse, predict
from mrac.foundation.base import Foundation
from mrac.gate._estimator import Estimator
from mrac.gate.base import Gate, with_confidence
from mrac.head.base import Head, Scene, checked_head
from mrac.methods import Method
from mrac.relative import finite_field, in_space, typical_range, without_relative
from mrac.result import MetricDepth
from mrac.runtime.cache import PredictionCache
from mrac.runtime.onnx_session import on_own_device, used_device
from mrac.runtime.providers import checked_device
from mrac.saved import load_saved, save
from mrac.space import Space, as_space
from mrac.stage_results import checked_fit
from mrac.stream import Progress, in_order, reported
from mrac.types import RelativeDepth, Samples
from mrac.verdicts import overall_status, verdicts_on
from mrac.zone_grid import sample_readings


class Calibrator:
    """Turns an image and sparse metric anchors, some of them wrong, into dense metric depth.

    A method names a choice for every stage; each can be overridden by a name (`"ransac"`), a name with options
    (`"theil_sen_mad:kappa=3"`) or an instance, foundation and gate also by a plain function (`Gate.from_function`), the
    gate by an estimator with `inlier_mask_`. A calibrator holds parameters only: it can be shared by threads.

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
        device: that ONNX networks run on, of `mrac list devices`, or `auto`; torch's have an option of their own.

    Raises:
        ContractError: a name or an option is unknown, a stage is none of these, or the device's package is missing.
    """

    def __init__(  # noqa: PLR0913  (each has a default, and is named in the call)
        self,
        method: str = "default",
        *,
        foundation: str | Foundation | Callable[[ImageArray], Any] | None = None,
        gate: str | Gate | Callable[..., Any] | Estimator | None = None,
        fit: str | Fit | None = None,
        head: str | Head | None = None,
        space: str | None = None,
        cache: PredictionCache | Path | str | None = None,
        device: str = "cpu",
    ) -> None:
        preset: Method = registry.load("method", method)
        self.method = method
        self.foundation: Foundation = as_stage("foundation", preset.foundation if foundation is None else foundation)
        self.gate: Gate = as_stage("gate", preset.gate if gate is None else gate)
        self.fit: Fit = as_stage("fit", preset.fit if fit is None else fit)
        self.head: Head = as_stage("head", preset.head if head is None else head)
        chosen: object = preset.space if space is None else space
        self.space: Space | None = None if isinstance(chosen, str) and not chosen else as_space(chosen)
        self.cache = as_cache(cache)
        self.device = checked_device(device, "Calibrator")

    @on_own_device
    def __call__(
        self,
        image: ImageArray,
        anchors: Anchors,
        relative: RelativeDepth | None = None,
        *,
        camera: Camera | None = None,
    ) -> MetricDepth:
        """Calibrates one frame.

        Args:
            image: (H, W, 3) uint8 RGB.
            anchors: K readings; unusable ones are judged, not refused. K = 0 gives a prior, named in the status.
            relative: (H, W) relative depth, in place of the foundation's.
            camera: of the image, for `warnings` alone: with it more mistakes are noticed.

        Returns:
            Depth and deviation for every pixel and a verdict on every anchor; see `MetricDepth`.

        Raises:
            ContractError: image or relative depth is not as above or has no finite value, or no anchor is usable.
        """
        check_call(image, anchors, relative, camera)
        given = relative is not None
        timings: dict[str, float] = {}
        ahead = Beforehand(image, anchors)
        with timed(timings, "foundation"), nullcontext() if given else ahead.beside_network(self.gate, self.head):
            relative, cache = self._relative(image, relative)
            field, has_value = finite_field(relative, image)
        with timed(timings, "anchors"):
            used = ahead.used(has_value)
            found = find_mistakes(self._evidence(anchors, image, relative, field, camera, given))
            samples, found = self._samples(used, relative, field, found)
        with timed(timings, "gate"):
            gated = with_confidence(self.gate(samples, ahead.appearance, field), used.readings.confidence)
            samples = replace(samples, features=gated.features)
            if not gated.use_relative:  # the depth is then that of a call without a foundation
                field, samples, found = None, self._set_aside(samples, used), tuple(f for f in found if f.is_mistake)
        with timed(timings, "fit"):
            inliers = samples.keep(gated.for_fit, gated.weight)
            fit = checked_fit(self.fit, self.fit(inliers), len(inliers))
        with timed(timings, "head"):
            scene = Scene(image, field, samples.keep(gated.for_head, gated.weight), fit, ahead.appearance)
            dense = checked_head(self.head, self.head(scene), scene.shape)
        verdicts = verdicts_on(used, gated)
        result = MetricDepth(
            depth_m=dense.depth_m,
            sigma_m=dense.sigma_m,
            anchors=verdicts,
            status=overall_status((fit.status, gated.status, dense.status), verdicts),
            fit=fit,
            space=samples.space,
            stages=self._names(given),
            options={stage: registry.stage_options(made) for stage, made in self._stages().items()},
            timings_ms=timings,
            cache=cache,
            device=used_device(),
            warnings=found,
        )
        return logged(result, use_relative=gated.use_relative)

    @on_own_device
    def fixed(
        self, image: ImageArray, anchors: Anchors, names: Sequence[str], *, camera: Camera | None = None
    ) -> Anchors:
        """The readings with the named mistakes put right where they are found; see `mrac.checks.fix`."""
        check_call(image, anchors, None, camera)
        relative, _ = self._relative(image, None)
        field, _ = finite_field(relative, image)
        evidence = self._evidence(anchors, image, relative, field, camera, given=False)
        return fix(anchors, (image.shape[1], image.shape[0]), names, evidence)

    def stream(
        self,
        frames: Iterable[tuple[Any, ...]],
        workers: int | None = None,
        *,
        camera: Camera | None = None,
        progress: Progress | None = None,
    ) -> Iterator[MetricDepth]:
        """Calibrates many frames, in their order, each as a call of its own would; reads ahead while others compute.

        Args:
            frames: (image, anchors) or (image, anchors, relative). Each part may also be a callable that returns it,
                image and anchors also paths: a thread of its own calls and reads them. A generator is read no further
                than needed, `workers` + 1 frames, so that a video of any length fits in memory.
            workers: threads; None is one for each core.
            camera: of all of them.
            progress: called as `progress(done, total)` for each; total is None where `frames` has no length.

        Raises:
            ContractError: as a call, with the number of the frame; the frames after it are lost.
        """
        return reported(in_order(partial(self, camera=camera), frames, workers), frames, progress)

    batch = stream

    def config(self) -> dict[str, Any]:
        """All that was chosen, as plain values that `from_config` takes: see `mrac.config`.

        Raises:
            ContractError: a stage is a function or an instance of a class without a registered name.
        """
        stages = {stage: stage_table(stage, implementation) for stage, implementation in self._stages().items()}
        space = {} if self.space is None else {"space": self.space}
        cache = {} if self.cache is None else {"cache": cache_table(self.cache)}
        device = {} if self.device == "cpu" else {"device": self.device}
        return {"method": self.method, **space, **device, **stages, **cache}

    def save_config(self, path: Path | str) -> None:
        """Writes `config()` to a .json or .toml file."""
        write_config(Path(path), self.config())

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | Path | str) -> Self:
        """The calibrator of a configuration: what `config` gave, or the path of a .json or .toml file.

        Raises:
            ContractError: the file is missing or broken, or an entry, a name or an option is unknown.
        """
        return cls(**arguments(config))

    def save(self, folder: Path | str) -> Path:
        """Writes configuration, the user's own weight files and a model card to a folder: see `mrac.saved`."""
        return save(Path(folder), self.config())

    @classmethod
    def load(cls, source: Path | str, *, cache: PredictionCache | Path | str | None = None) -> Self:
        """The calibrator of a folder of `save`, its files checked; or of a method's name.

        Raises:
            ContractError: neither of them, or the folder was changed, is of a later version or names a file outside.
        """
        if isinstance(source, str) and source in registry.names("method"):
            return cls(source, cache=cache)
        return cls(**{**arguments(load_saved(Path(source))), "cache": cache})

    def __repr__(self) -> str:
        parts = [f"{stage}={stage_spec(made)!r}" for stage, made in self._stages().items()]
        more = {"space": self.space, "cache": self.cache, "device": None if self.device == "cpu" else self.device}
        parts += [f"{name}={value!r}" for name, value in more.items() if value is not None]
        return f"Calibrator({self.method!r}, {', '.join(parts)})"

    def _stages(self) -> dict[str, Any]:
        return {stage: getattr(self, stage) for stage in registry.STAGES}

    def _names(self, given: bool) -> dict[str, str]:
        names = {stage: registry.stage_name(made) for stage, made in self._stages().items()}
        return {"method": self.method, **names, **({"foundation": "given"} if given else {})}

    def _relative(self, image: ImageArray, relative: RelativeDepth | None) -> tuple[RelativeDepth | None, CacheUse]:
        """Relative depth, as given or predicted, in this calibrator's space where it can be converted."""
        cache: CacheUse = "off"
        if relative is None:
            relative, cache = self._predict(image)
        return (relative if relative is None or self.space is None else in_space(relative, self.space)), cache

    def _predict(self, image: ImageArray) -> tuple[RelativeDepth | None, CacheUse]:
        return predict(self.foundation, image, self.cache)

    def _evidence(
        self,
        anchors: Anchors,
        image: ImageArray,
        relative: RelativeDepth | None,
        field: FloatArray | None,
        camera: Camera | None,
        given: bool,
    ) -> Evidence:
        """What the checks look at: all readings, usable or not, beside the field."""
        space: Space = "log_depth" if relative is None else relative.space
        metric = not given and space == "log_depth" and registry.stage_name(self.foundation) == "embedded"
        return Evidence(anchors, (image.shape[0], image.shape[1]), field, space, metric, camera)

    def _samples(
        self, used: Usable, relative: RelativeDepth | None, field: FloatArray | None, found: tuple[Finding, ...]
    ) -> tuple[Samples, tuple[Finding, ...]]:
        """The usable readings, one per pixel, with the relative field (H, W) at each; what was found, also zones."""
        readings, reason = used.readings, used.reason
        if reason.size and not len(readings):
            counted = zip(*np.unique(reason, return_counts=True), strict=True)
            words = ", ".join(f"{word} ×{n}" for word, n in counted)
            hints = "".join(f". {finding.message}: {finding.advice}" for finding in found)
            raise ContractError(
                f"anchors: none of the {reason.size} is usable ({words}); at least one is needed{hints}"
            )
        at = None
        if field is not None and relative is not None:
            at = sample_readings(field, readings, relative.space)
        samples = Samples(
            uv_px=readings.uv_px,
            z_m=readings.z_m,
            x=None if at is None else at.x,
            space=self.space or (relative.space if relative is not None else "log_depth"),
            native=relative is not None and self.space in (None, relative.space),
            weight=np.ones(len(readings)),
            noise_m=readings.sigma_m,
            x_range=None if field is None else typical_range(field),
            extent_px=readings.extent_px if at is None else at.extent_px,
        )
        return samples, found if at is None or at.finding is None else (*found, at.finding)

    def _set_aside(self, samples: Samples, used: Usable) -> Samples:
        """The samples without relative depth, and without what was concluded from it."""
        return without_relative(replace(samples, extent_px=used.readings.extent_px), self.space or "log_depth")
