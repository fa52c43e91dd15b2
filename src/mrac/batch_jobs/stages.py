"""What happens to one frame: load, calibrate, commit. Any process, any order, the same bytes."""

import json
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mrac.batch_jobs.job import Action, Frame, Job, Outcome, Record, failed, frame_key
from mrac.batch_jobs.manifest import append, new_part
from mrac.conventions import ImageArray
from mrac.io.files import sha256_of
from mrac.recordings.opened import is_recording

if TYPE_CHECKING:
    from mrac.anchors import Anchors
    from mrac.camera import Camera
    from mrac.pipeline import Calibrator
    from mrac.result import MetricDepth

# Sums over a network's channels come out differently with another number of threads, in the last bit; and two processes
# of one thread do more than one process of two. So a worker has one thread, on any machine.
ENVIRONMENT: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Loaded:
    """A frame in memory: (H, W, 3) uint8 and its readings, with the key of its content."""

    frame: Frame
    key: str
    image: ImageArray
    anchors: "Anchors"
    times_ms: dict[str, float]
    camera: "Camera | None" = None


@dataclass(frozen=True)
class Calibrated:
    """A frame with its result."""

    frame: Frame
    key: str
    result: "MetricDepth"
    times_ms: dict[str, float]


def prepare_worker() -> None:
    """To be called once in a process before any frame; the ENVIRONMENT is to be set before it starts."""
    from mrac.runtime.parallel import limit_cores  # noqa: PLC0415

    limit_cores(1)


def perform(job: Job, frame: Frame) -> Outcome:
    """All stages of a frame, one after the other."""
    loaded = load(job, frame)
    done = loaded if isinstance(loaded, Outcome) else calibrate(job, loaded)
    return done if isinstance(done, Outcome) else commit(job, done)


def load(job: Job, frame: Frame) -> Loaded | Outcome:
    """Reads and decodes a frame; the outcome itself if it is committed already, or cannot be read."""
    from mrac.io.image import read_image  # noqa: PLC0415

    if frame.fault:
        return failed(frame.id, frame.fault)
    start = time.perf_counter()
    if frame.row >= 0 and is_recording(Path(frame.image)):
        return _load_recorded(job, frame, start)
    try:
        if frame.row >= 0:
            from mrac.batch_jobs.parquet_rows import row_content  # noqa: PLC0415

            content, name, readings = row_content(frame.image, frame.row)
            arrays = [readings.uv_px, readings.z_m, readings.sigma_m]
            key = frame_key(job.digest, content, *(b"" if values is None else values.tobytes() for values in arrays))
        else:
            content, name, readings = Path(frame.image).read_bytes(), frame.image, None
            key = frame_key(job.digest, content, Path(frame.anchors).read_bytes())
        committed = _committed(job, frame, key)
        if committed is not None:
            return Outcome(committed, "kept")
        image = read_image(name, content)
        size = (image.shape[1], image.shape[0])
        if readings is None:
            anchors = job.readings.read(Path(frame.anchors), Path(frame.image), size)
        else:
            anchors = job.readings.as_by_sensor(readings)
    except Exception as error:  # a damaged file may raise anything: the others are still to be done
        return failed(frame.id, error)
    return Loaded(frame, key, image, anchors, {"load": _since(start)})


def _load_recorded(job: Job, frame: Frame, start: float) -> Loaded | Outcome:
    """`load` of a frame of a recording; its readings are what transforms and cameras made of the messages."""
    from mrac.batch_jobs.recorded import frame_content  # noqa: PLC0415

    try:
        stored, decoded = frame_content(frame.image, frame.row, job.readings)
        anchors = decoded.anchors
        columns = [anchors.uv_px, anchors.z_m, anchors.sigma_m, anchors.extent_px, anchors.flag]
        parts = [b"" if values is None else values.tobytes() for values in columns]
        key = frame_key(job.digest, stored.raw, *parts, repr(decoded.camera).encode())
        committed = _committed(job, frame, key)
    except Exception as error:  # as in `load`
        return failed(frame.id, error)
    if committed is not None:
        return Outcome(committed, "kept")
    return Loaded(frame, key, decoded.image, anchors, {"load": _since(start)}, decoded.camera)


def calibrate(job: Job, loaded: Loaded) -> Calibrated | Outcome:
    """Depth of a frame."""
    start = time.perf_counter()
    try:
        size = (loaded.image.shape[1], loaded.image.shape[0])
        result = _calibrator(job.config)(
            loaded.image, loaded.anchors, camera=loaded.camera or job.readings.camera_of(size)
        )
    except Exception as error:
        return failed(loaded.frame.id, error)
    times_ms = {**loaded.times_ms, **result.timings_ms, "calibrate": _since(start)}
    return Calibrated(loaded.frame, loaded.key, result, times_ms)


def commit(job: Job, done: Calibrated) -> Outcome:
    """Writes a result: a part, its record, and only then its name."""
    start = time.perf_counter()
    out, frame = Path(job.out), done.frame
    target = out / f"{frame.id}.{job.format}"
    try:
        part = new_part(out, target.suffix)
        if job.format == "npz":
            done.result.save(part)
        else:
            from mrac.batch_jobs.parquet_part import write_part  # noqa: PLC0415

            write_part(part, frame.id, done.result)
        name = target.relative_to(out).as_posix()
        record = Record(frame.id, done.key, name, part.stat().st_size, sha256_of(part), done.result.status)
        append(out, record)
        target.parent.mkdir(parents=True, exist_ok=True)
        part.replace(target)
    except Exception as error:
        return failed(frame.id, error)
    action: Action = "repaired" if any(one.key == done.key for one in frame.previous) else "computed"
    return Outcome(record, action, {**done.times_ms, "commit": _since(start)})


def _committed(job: Job, frame: Frame, key: str) -> Record | None:
    """The record of this content whose file is there and whole."""
    for record in frame.previous:
        path = Path(job.out) / record.file
        if record.key != key or not record.file or not path.is_file() or path.stat().st_size != record.num_bytes:
            continue
        if job.check == "size" or sha256_of(path) == record.sha256:
            return record
    return None


@lru_cache(maxsize=2)
def _calibrator(config: str) -> "Calibrator":
    from mrac.pipeline import Calibrator  # noqa: PLC0415

    return Calibrator.from_config(json.loads(config))


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1e3
