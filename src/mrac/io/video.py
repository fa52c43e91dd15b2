"""Reads the frames of a video file as (H, W, 3) uint8 RGB, upright, one at a time (PyAV, extra `video`)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.conventions import ImageArray
from mrac.errors import ContractError, MissingExtra, first_line
from mrac.io.input_file import check_file

VIDEO_SUFFIXES: Final = (".mp4", ".mkv", ".avi", ".mov")


def is_video(path: Path) -> bool:
    """Whether a file's name is that of a video."""
    return path.suffix.lower() in VIDEO_SUFFIXES and not path.is_dir()


def read_video(path: Path | str) -> Iterator[ImageArray]:
    """The frames of the first video stream, in the order they are shown, turned as the file says.

    Raises:
        ContractError: the file is missing, or not a video; later, a frame that cannot be decoded.
        MissingExtra: PyAV is not installed.
    """
    return _frames(Path(path), _opened(Path(path)))


def num_frames(path: Path | str) -> int | None:
    """How many frames the file states that it has, or its duration and rate give; None where it states neither.

    Raises:
        ContractError, MissingExtra: as `read_video`.
    """
    with _opened(Path(path)) as container:
        stream = container.streams.video[0]
        if stream.frames:
            return int(stream.frames)
        if container.duration is None or not stream.average_rate:
            return None
        seconds = float(container.duration) / 1e6
        return max(1, round(seconds * float(stream.average_rate)))


def _opened(path: Path) -> Any:
    try:
        import av  # noqa: PLC0415  (36 MB)
    except ImportError:
        raise MissingExtra(f"reading the video {path}", "video") from None
    check_file(path, max_bytes=1 << 40)  # read frame by frame: any length will do
    try:
        container = av.open(str(path))
    except (av.FFmpegError, OSError) as error:
        raise ContractError(f"{path}: not a readable video ({first_line(error)})") from None
    if not container.streams.video:
        container.close()
        raise ContractError(f"{path}: no video stream in it; a file with pictures is needed")
    container.streams.video[0].thread_type = "AUTO"  # by default codecs decode whole frames on one core
    return container


def _frames(path: Path, container: Any) -> Iterator[ImageArray]:
    import av  # noqa: PLC0415

    number = 0
    with container:
        try:
            for frame in container.decode(video=0):
                picture = frame.to_ndarray(format="rgb24")
                turns = round(frame.rotation / 90) % 4  # counter-clockwise, as numpy counts too
                yield np.ascontiguousarray(np.rot90(picture, turns)) if turns else picture
                number += 1
        except av.FFmpegError as error:
            raise ContractError(f"{path}: frame {number} cannot be decoded ({first_line(error)})") from None
