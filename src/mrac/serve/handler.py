"""From a submission to the body of an answer, in steps that any executor of threads or batches can run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mrac.anchors import Anchors
from mrac.errors import MracError
from mrac.http import FORMATS, Choices, Frame, Submission, calibrated, chosen_format, chosen_maps, encoded, read_frame
from mrac.pipeline import Calibrator
from mrac.result import MetricDepth
from mrac.serve.settings import Settings


@dataclass(frozen=True, eq=False)
class Job:
    """A request whose body has arrived.

    Attributes:
        submission: its body.
        accept: its header Accept.
        request_id: its id.
    """

    submission: Submission
    accept: str
    request_id: str


@dataclass(frozen=True, eq=False)
class Answer:
    """The body of an answer, its media type, and the status of the scene."""

    body: bytes
    media_type: str
    status: str


@dataclass(frozen=True, eq=False)
class Handler:
    """What the service does with a job; safe to share between threads."""

    settings: Settings

    def whole(self, job: Job) -> Answer:
        """All steps, one after the other."""
        frame = self.decode(job)
        return self.encode(job, frame, *calibrated(self.calibrator(frame), frame))

    def decode(self, job: Job) -> Frame:
        """The frame; format, maps and choices are checked too, before time is spent on it.

        Raises:
            MracError: see `mrac.http.read_frame`.
        """
        chosen_format(job.submission.fields.get("format"), job.accept)
        chosen_maps(job.submission.fields.get("maps", ""))
        frame = read_frame(job.submission, self.settings.limits)
        self.calibrator(frame)
        return frame

    def calibrator(self, frame: Frame) -> Calibrator:
        """Of the request's choices."""
        return self.settings.offer.calibrator(frame.choices)

    def encode(self, job: Job, frame: Frame, result: MetricDepth, anchors: Anchors) -> Answer:
        """The answer in the format that was chosen."""
        name = chosen_format(frame.fields.get("format"), job.accept)
        body = encoded(name, result, anchors, job.request_id, frame.fields.get("maps", ""))
        return Answer(body, FORMATS[name], result.status)

    def batch(
        self, frames: Sequence[Frame], workers: int | None = None
    ) -> list[tuple[MetricDepth, Anchors] | MracError]:
        """Many frames at once, those of equal shape and choices by `Calibrator.batch`; each as a call of its own would.

        Returns:
            In the order of `frames`, the result and the readings, or what made a frame fail.
        """
        done: dict[int, tuple[MetricDepth, Anchors] | MracError] = {}
        groups: dict[object, list[int]] = {}
        for i, frame in enumerate(frames):
            # A camera is of one frame, and fixes are made before a call: such a frame is a group by itself.
            alone = i if frame.camera is not None or frame.fixes else -1
            groups.setdefault((frame.image.shape, frame.choices, alone), []).append(i)
        for group in groups.values():
            done |= dict(zip(group, self._group([frames[i] for i in group], workers), strict=True))
        return [done[i] for i in range(len(frames))]

    def _group(self, frames: list[Frame], workers: int | None) -> list[tuple[MetricDepth, Anchors] | MracError]:
        if len(frames) > 1:
            used = [f.anchors if f.sensor is None else f.sensor.apply(f.anchors) for f in frames]
            pairs = [(frame.image, anchors) for frame, anchors in zip(frames, used, strict=True)]
            try:
                results = list(self.calibrator(frames[0]).batch(pairs, workers))
                return list(zip(results, used, strict=True))
            except MracError:  # of one frame, and the frames after it are lost: each by itself then
                pass
        return [self._one(frame) for frame in frames]

    def _one(self, frame: Frame) -> tuple[MetricDepth, Anchors] | MracError:
        try:
            return calibrated(self.calibrator(frame), frame)
        except MracError as error:
            return error

    def warm_up(self) -> None:
        """One calibration of a made scene: compiles kernels and loads networks.

        Raises:
            MracError: the server's own method cannot run, such as for want of its weights.
        """
        rng = np.random.default_rng(0)
        image = rng.integers(0, 255, (96, 128, 3), np.uint8)
        uv_px = np.stack([rng.integers(0, 128, 24), rng.integers(0, 96, 24)], axis=1)
        self.settings.offer.calibrator(Choices())(image, Anchors(uv_px, rng.uniform(1.0, 5.0, 24)))
