"""What `mrac calibrate` does with each of many frames: from files or a video to a result that is whole on disk."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final

import click

from mrac.cli.frame import calibrated, inputs_entry
from mrac.cli.source_options import read_given
from mrac.conventions import ImageArray
from mrac.errors import ContractError, MracError
from mrac.foundation.precomputed import Precomputed
from mrac.frames import FrameFiles, FrameTable, Manifest, Record
from mrac.frames.manifest import inputs_digest
from mrac.io.image import read_image
from mrac.io.video import read_video
from mrac.pipeline import Calibrator
from mrac.result import MetricDepth
from mrac.result.folder import write_result

FILES: Final = {  # options that name one file for all frames, or a folder or pattern with one for each
    "anchors_path": "--anchors",
    "camera_path": "--camera",
    "pose_path": "--pose",
    "depth_camera": "--depth-camera",
    "confidence": "--confidence",
    "relative_path": "--relative",
}
_FAILURES: Final = (MracError, OSError, click.ClickException)  # of one frame: the others go on


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame that is to be calibrated, or is finished already; `pixels` of a video, which are decoded in passing."""

    stem: str
    image: Path
    source: dict[str, Any]
    inputs: str
    pixels: ImageArray | Exception | None = None
    finished: Record | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class FrameRun:
    """The options of a run, and what is done with each frame.

    Attributes:
        manifest: which frames are finished.
        source: of `take_source`, and `relative_path`.
        matched: by name in `source`, those of which each frame has its own.
        options: of the `Calibrator`.
        fixes: of --fix.
        nearer_than_m: of --nearer-than.
        endings: of --save; empty: a folder for each frame.
        png_format: of a .png among them.
        relative_space: of --relative.
        shared: by size of the images, what was read from files that serve all frames; guarded by `lock`.
    """

    manifest: Manifest
    source: dict[str, Any]
    matched: dict[str, FrameFiles | FrameTable]
    options: dict[str, Any]
    fixes: tuple[str, ...]
    nearer_than_m: tuple[float, ...]
    endings: tuple[str, ...]
    png_format: str | None
    relative_space: str
    shared: dict[tuple[int, int], Any] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def frame(self, stem: str, image: Path, pixels: ImageArray | Exception | None = None) -> Frame:
        """A frame with its own files."""
        files = {name: own.of(stem) for name, own in self.matched.items() if isinstance(own, FrameFiles)}
        source = self.source | files
        inputs = inputs_digest([image, *(source[name] for name in FILES)])
        return Frame(stem, image, source, inputs, pixels, self.manifest.finished(stem, inputs, self.targets(stem)))

    def targets(self, stem: str) -> list[Path]:
        """The files by whose presence a frame is finished."""
        names = self.names(stem) or (f"{stem}/report.json",)
        return [self.manifest.folder / name for name in names]

    def names(self, stem: str) -> tuple[str, ...]:
        """The files of a frame in the folder of results, where it has no folder of its own."""
        return tuple(f"{stem}{ending}" for ending in self.endings)

    def read(self, frame: Frame) -> tuple[Frame, ImageArray | Exception | None]:
        """In the reading thread; what fails is a result like any other, so that the frames after it go on."""
        if frame.finished is not None or frame.pixels is not None:
            return frame, frame.pixels
        try:
            return frame, read_image(frame.image)
        except _FAILURES as error:
            return frame, error

    def work(self, frame: Frame, pixels: ImageArray | Exception | None) -> Record:
        """In one of the working threads: from pixels to files."""
        if frame.finished is not None:
            return frame.finished | {"skipped": True}
        start = time.perf_counter()
        try:
            if isinstance(pixels, Exception):
                raise pixels
            assert pixels is not None
            result = self._calibrate(frame, pixels)
        except _FAILURES as error:
            message = error.format_message() if isinstance(error, click.ClickException) else str(error)
            return {"frame": frame.stem, "error": " ".join(message.split())}
        return _record(frame, result) | {"seconds": round(time.perf_counter() - start, 4)}

    def _calibrate(self, frame: Frame, pixels: ImageArray) -> MetricDepth:
        source = dict(frame.source)
        relative = source.pop("relative_path")
        for name in self.matched:
            if frame.source[name] is None:  # of a video: of images all have been found before
                raise ContractError(f"{FILES[name]} {self.source[name]}: no file of this frame's number")
        given = self._given(frame, source, (pixels.shape[1], pixels.shape[0]))
        more = {} if relative is None else {"foundation": Precomputed(str(relative), self.relative_space)}
        result, anchors = calibrated(Calibrator(**self.options | more), pixels, given, self.fixes)
        part = self.manifest.part(frame.stem)
        if self.endings:
            for name in self.names(frame.stem):
                chosen = self.png_format if name.endswith(".png") else None
                result.save(part / name, image=pixels, anchors=anchors, camera=given[1], format=chosen)
        else:
            entry = inputs_entry(frame.image, relative, self.nearer_than_m, self.fixes, source)
            write_result(part, result, anchors, {**entry, "frame": frame.stem}, self.nearer_than_m, pixels)
        self.manifest.commit(part, frame.stem, self.names(frame.stem))
        return result

    def _given(self, frame: Frame, source: dict[str, Any], size: tuple[int, int]) -> Any:
        """Readings, camera and sensor; files that serve all frames of a size are read once."""
        own = self.matched.keys() - {"relative_path"}
        table = self.matched.get("anchors_path")
        rows = table.of(frame.stem) if isinstance(table, FrameTable) else None
        own -= {"anchors_path"} if rows is not None else set()
        if own or source["anchors_path"].is_dir():  # a COLMAP model is asked for each image by its name
            return read_given(frame.image, size, source)
        with self.lock:
            if size not in self.shared:
                self.shared[size] = read_given(frame.image, size, source)
            anchors, camera, sensor = self.shared[size]
        return (anchors if rows is None else anchors.take(rows)), camera, sensor


def of_images(run: FrameRun, images: list[Path]) -> Iterator[Frame]:
    """A frame for each image."""
    return (run.frame(image.stem, image) for image in images)


def of_video(run: FrameRun, video: Path) -> Iterator[Frame]:
    """The frames that have readings; where one file serves all of them, all. The last one may be a failure."""
    anchors, number = run.matched.get("anchors_path"), 0
    try:
        for pixels in read_video(video):
            stem = f"{number:06d}"
            if anchors is None or anchors.of(stem) is not None:
                yield run.frame(stem, video, pixels)
            number += 1
    except ContractError as error:  # cut short: the frames before it stay
        yield run.frame(f"{number:06d}", video, error)


def _record(frame: Frame, result: MetricDepth) -> Record:
    keep = result.anchors.keep
    return {
        "frame": frame.stem,
        "inputs": frame.inputs,
        "status": result.status,
        "kept": int(keep.sum()),
        "rejected": int((~keep).sum()),
        "depth_m": [round(float(result.depth_m.min()), 4), round(float(result.depth_m.max()), 4)],
        "warnings": [finding.name for finding in result.warnings],
    }
