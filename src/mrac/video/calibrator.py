"""Calibrates the frames of a video: readings of past frames, moved to where they are now, count beside this frame's."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from mrac.anchors import Anchors
from mrac.anchors._validity import USABLE, usable
from mrac.arguments import check_call
from mrac.camera import Camera
from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.gp.features import LengthScales, features_without_image
from mrac.pipeline import Calibrator
from mrac.relative import fill_invalid, sample_bilinear, typical_range
from mrac.result import MetricDepth, Verdicts
from mrac.stream import Progress, reported
from mrac.types import INLIER_WEIGHT, RelativeDepth
from mrac.verdicts import overall_status
from mrac.video.carried import Carried, with_carried
from mrac.video.level import Drift, find_drift, shapes
from mrac.video.matching import Corners, difference, find_corners, match
from mrac.video.motion import REST, Motion, find_motion
from mrac.video.scale import NetworkLevel, level_var

_FOCAL: Final = 0.85  # of the image's width, where no camera is given: a wide phone lens has 0.7, a Kinect 0.9
_STILL: Final = 1.0  # mean difference in grey levels up to which a picture without corners did not move
_STEP_STD: Final = 0.01  # of log depth per frame: of each moved reading by itself, and of all together, at first
_DRIFT_STD: Final = 0.01
_LEARNING: Final = 0.1  # share of a new frame in the learned noise
# Frames that are remembered: where the last one was blurred or hidden, one before it may still show this scene.
_REMEMBERED: Final = 4
_MAX_LEVEL: Final = 256  # readings that the variance of a level is computed from
_MAX_FACTOR: Final = 5.0  # by which learned deviations differ from these at most


@dataclass(frozen=True)
class FrameState:
    """What became of the last frame's state.

    Attributes:
        cut: why nothing was carried over: `first` frame, `picture` (it shows another scene), `level` (the readings
            agree on another depth), `size` or `time` (the image's size changed, time ran backwards); empty otherwise.
        num_carried: readings of past frames that were used.
        level_change: of log depth, by which these were corrected together.
        error_px: of the camera's motion; NaN at a cut.
        frames_back: how long ago the frame was that the readings were carried over from: 1 is the last; 0 at a cut.
    """

    cut: str
    num_carried: int
    level_change: float
    error_px: float
    frames_back: int


@dataclass(frozen=True, eq=False)
class _Past:
    """What is kept of a frame: memory does not grow with the number of frames."""

    corners: Corners
    depth_m: FloatArray
    carried: Carried
    time_s: float | None


class VideoCalibrator:
    """A calibrator for frames of one camera in their order: steadier than `Calibrator`, and not slower to follow.

    Readings of past frames are moved by the camera's motion, which is found from matched corners and the last frame's
    depth. They enter as readings with a growing standard deviation; gate, fit and head are the calibrator's own. Where
    the picture shows another scene, or this frame's readings agree on another depth, the state starts anew.

    It has a state: one object for each video, frames one after the other. `last` says what became of the state.

    Args:
        calibrator: the stages; None is `Calibrator()`.
        camera: of all frames; without it a focal length of 0.85 image widths is assumed, which suffices for small
            motions between frames (measured: docs/video.md).
        max_carried: readings of past frames that are used at most; 0 makes it a plain calibrator.

    Raises:
        ContractError: `max_carried` is no whole number >= 0.
    """

    def __init__(
        self, calibrator: Calibrator | None = None, *, camera: Camera | None = None, max_carried: int = 100
    ) -> None:
        most: Any = max_carried
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ContractError(f"VideoCalibrator.max_carried: {max_carried!r} arrived; a whole number >= 0 is needed")
        self.calibrator = Calibrator() if calibrator is None else calibrator
        self.camera = camera
        self.max_carried = max_carried
        self.reset()

    def reset(self) -> None:
        """Forgets all frames so far: the next one is the first."""
        self._past: deque[_Past] = deque(maxlen=_REMEMBERED)
        self._network = NetworkLevel()
        self._interval_s: float | None = None
        self._step_var, self._drift_var = _STEP_STD**2, _DRIFT_STD**2
        self.last = FrameState("first", 0, 0.0, float("nan"), 0)

    def __call__(
        self, image: ImageArray, anchors: Anchors, relative: RelativeDepth | None = None, *, time_s: float | None = None
    ) -> MetricDepth:
        """Calibrates the next frame.

        Args:
            image: (H, W, 3) uint8 RGB.
            anchors: K readings of this frame; K = 0 is a frame for which those of past frames must do. Points where
                no `extent_px` is stated.
            relative: (H, W) relative depth, in place of the foundation's.
            time_s: when it was taken; deviations then grow with time, not with the number of frames.

        Returns:
            As of `Calibrator`; the verdicts are on these K readings alone.

        Raises:
            ContractError: as of `Calibrator`; the state is then as before the call.
        """
        check_call(image, anchors, relative)
        shape = image.shape[0], image.shape[1]
        start, given = time.perf_counter(), relative is not None
        cache: str = "off"
        if relative is None:
            relative, cache = self.calibrator._predict(image)
        foundation_ms, start = (time.perf_counter() - start) * 1e3, time.perf_counter()
        corners = find_corners(image)
        camera = self._camera(image)
        carried, motion, cut, back = self._moved(corners, camera, time_s)
        carried = carried.apart_from(anchors.uv_px, shape)
        drift = self._drift(carried, anchors, relative, shape)
        if drift.jump:
            carried, cut = Carried.none(), "level"
        carried = carried.shifted(shapes(carried.uv_px, carried.z_m, shape) @ drift.change)
        video_ms = (time.perf_counter() - start) * 1e3
        if anchors.extent_px is None:  # a guess, zones or points, might change from frame to frame
            anchors = replace(anchors, extent_px=np.zeros((len(anchors), 2)))
        both, K = with_carried(anchors, carried, self._drift_var), len(anchors)
        result = self.calibrator(image, both, relative, camera=self.camera)
        if cut and cut != "picture":  # another picture may be a glance aside
            self._past.clear()
            self._network = NetworkLevel()
        result = self._levelled(result, both, K, relative)
        if cut:
            self.last = FrameState(cut, 0, 0.0, float("nan"), 0)
        else:
            self.last = FrameState("", len(carried), float(drift.change[0]), motion.error_px, back)
        self._remember(result, anchors, carried, corners, time_s)
        self._learn(drift, len(carried))
        verdicts = _first(result.anchors, K)
        # `mostly_unusable` counted the carried readings too.
        named = "ok" if result.status == "mostly_unusable" else result.status
        return replace(
            result,
            anchors=verdicts,
            status=overall_status((named,), verdicts),
            stages=self.calibrator._names(given),
            timings_ms={**result.timings_ms, "foundation": foundation_ms, "video": video_ms},
            cache=cache,
        )

    def frames(self, frames: Iterable[tuple[Any, ...]], *, progress: Progress | None = None) -> Iterator[MetricDepth]:
        """Calibrates frames (image, anchors) or (image, anchors, relative) in their order, one at a time.

        Args:
            frames: read one at a time.
            progress: called as `progress(done, total)` for each; total is None where `frames` has no length.
        """
        return reported((self(*frame) for frame in frames), frames, progress)

    def _camera(self, image: ImageArray) -> Camera:
        H, W = image.shape[:2]
        if self.camera is not None:
            return self.camera if (self.camera.width, self.camera.height) == (W, H) else self.camera.resized(W, H)
        return Camera(_FOCAL * W, _FOCAL * W, (W - 1) / 2, (H - 1) / 2, W, H)

    def _moved(self, corners: Corners, camera: Camera, time_s: float | None) -> tuple[Carried, Motion, str, int]:
        """The carried readings in this frame, the motion, why there is none, and how many frames ago it began."""
        if not self._past:
            return Carried.none(), REST, "first", 0
        last = self._past[-1]
        if last.depth_m.shape != (camera.height, camera.width):
            return Carried.none(), REST, "size", 0
        if time_s is not None and last.time_s is not None:
            if time_s <= last.time_s:
                return Carried.none(), REST, "time", 0
            self._interval_s = time_s - last.time_s if self._interval_s is None else self._interval_s
        for back, past in enumerate(reversed(self._past), 1):
            motion = _motion(past, corners, camera)
            if motion is not None:
                steps = float(back)
                if time_s is not None and past.time_s is not None and self._interval_s is not None:
                    steps = (time_s - past.time_s) / self._interval_s
                moved = past.carried.moved(motion, camera, past.depth_m, steps * self._step_var)
                return moved, motion, "", back
        return Carried.none(), REST, "picture", 0

    def _levelled(
        self, result: MetricDepth, both: Anchors, num_own: int, relative: RelativeDepth | None
    ) -> MetricDepth:
        """The result at the level that its readings and the network, as it was in past frames, agree on."""
        used = np.flatnonzero(result.anchors.keep & (result.anchors.weight >= INLIER_WEIGHT))[:_MAX_LEVEL]
        if relative is None or relative.space != "log_depth" or not used.size:
            return result
        field, _ = fill_invalid(relative)
        grid = _grid(result.depth_m.shape)
        at = np.concatenate([both.uv_px[used], grid])
        x, log_z = sample_bilinear(field, at), np.log(both.z_m[used])
        features = features_without_image(at, x, typical_range(field), LengthScales())
        noise = None if both.sigma_m is None else both.sigma_m[used] / both.z_m[used]
        rejected = float(np.mean(~result.anchors.keep[:num_own])) if num_own else 0.0
        var = level_var(features, log_z - x[: used.size], result.anchors.weight[used], noise, rejected)
        error = float(np.median(x[used.size :] - np.log(sample_bilinear(result.depth_m, grid))))
        factor = np.float32(np.exp(self._network.change(error, var)))
        return replace(result, depth_m=result.depth_m * factor, sigma_m=result.sigma_m * factor)

    def _drift(
        self, carried: Carried, anchors: Anchors, relative: RelativeDepth | None, shape: tuple[int, int]
    ) -> Drift:
        """The common error of the carried readings."""
        good = usable(anchors, shape, None).reason == USABLE
        if not len(carried) or not good.any():
            return Drift(np.zeros(4), self._drift_var, False, 1.0)
        current = Carried.of(anchors, good)
        both = carried.joined(current)
        log_z, x, x_range = np.log(both.z_m), None, (0.0, 1.0)
        if relative is not None:
            field, _ = fill_invalid(relative)
            x, x_range = sample_bilinear(field, both.uv_px), typical_range(field)
        trend = x if x is not None and relative is not None and relative.space == "log_depth" else 0.0
        features = features_without_image(both.uv_px, x, x_range, LengthScales())
        error_shapes = shapes(carried.uv_px, carried.z_m, shape)
        return find_drift(features, log_z - trend, both.log_var, error_shapes, self._drift_var)

    def _remember(
        self, result: MetricDepth, anchors: Anchors, carried: Carried, corners: Corners, time_s: float | None
    ) -> None:
        K = len(anchors)
        right = result.anchors.keep & (result.anchors.weight >= INLIER_WEIGHT)
        both = Carried.of(anchors, right[:K]).joined(carried.take(right[K:]))
        kept = (
            both.thinned(self.max_carried, (result.depth_m.shape[0], result.depth_m.shape[1]))
            if self.max_carried
            else Carried.none()
        )
        self._past.append(_Past(corners, result.depth_m, kept, time_s))

    def _learn(self, drift: Drift, num_carried: int) -> None:
        """Noise of the next steps, from how large the differences of this one were."""
        if not num_carried:
            return
        drift_var = (1.0 - _LEARNING) * self._drift_var + _LEARNING * (float(drift.change[0]) ** 2 + drift.var)
        step_var = self._step_var * drift.ratio ** (2.0 * _LEARNING)
        self._drift_var = _limited(drift_var, _DRIFT_STD)
        self._step_var = _limited(step_var, _STEP_STD)


def _limited(var: float, std: float) -> float:
    """A variance whose deviation differs from `std` by `_MAX_FACTOR` at most."""
    return min(max(var, (std / _MAX_FACTOR) ** 2), (std * _MAX_FACTOR) ** 2)


def _motion(past: _Past, corners: Corners, camera: Camera) -> Motion | None:
    """The motion of the camera since a past frame, or None where the two show different scenes."""
    matches = match(past.corners, corners)
    motion = find_motion(matches, sample_bilinear(past.depth_m, matches.before_px), camera)
    return REST if motion is None and difference(past.corners, corners) <= _STILL else motion


def _first(verdicts: Verdicts, num: int) -> Verdicts:
    return Verdicts(
        verdicts.keep[:num],
        verdicts.score[:num],
        verdicts.outlier_probability[:num],
        verdicts.weight[:num],
        verdicts.reason[:num],
    )


def _grid(shape: tuple[int, ...]) -> FloatArray:
    """(G, 2) some 200 points spread over the image."""
    H, W = shape
    step = max(1.0, (H * W / 192.0) ** 0.5)
    v, u = np.meshgrid(np.arange(0.5 * step, H, step), np.arange(0.5 * step, W, step), indexing="ij")
    return np.stack([u.ravel(), v.ravel()], axis=1)
