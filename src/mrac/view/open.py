"""Whatever a path stands for, as frames for the viewer."""

from collections.abc import Iterator
from pathlib import Path

from mrac.errors import ContractError
from mrac.frames import FrameFiles
from mrac.recordings.opened import is_recording
from mrac.view.frame import ViewFrame
from mrac.view.recording import recorded_frames
from mrac.view.results import read_result, result_paths, with_given


def frames_of(
    path: Path | str,
    *,
    image: Path | None = None,
    camera: Path | None = None,
    anchors: Path | None = None,
    image_topic: str | None = None,
) -> Iterator[ViewFrame]:
    """The frames of a result, of a folder of results, or of a recording of `mrac bag`, one at a time.

    Args:
        path: of any of them.
        image: a file, or of many results a folder with one for each, of the same stem.
        camera: a file of `read_camera`, of all frames.
        anchors: the readings of one result, where it does not hold their positions.
        image_topic: of the photo in a recording; by default the only topic of images besides the results.

    Raises:
        ContractError: there is no result, or a file does not fit; at once, or when its frame is read.
    """
    if is_recording(Path(path)):
        if image is not None or anchors is not None:
            raise ContractError(f"view: --image and --anchors are for results; {path} is a recording: --image-topic")
        return (with_given(frame, None, camera, None) for frame in recorded_frames(Path(path), image_topic))
    if image_topic is not None:
        raise ContractError(f"view: --image-topic is for a recording; {path} is none")
    paths = result_paths(Path(path))
    if anchors is not None and len(paths) > 1:
        raise ContractError(f"view: --anchors is for one result; {path} holds {len(paths)}")
    images = None if image is None or image.is_file() else FrameFiles(image, "--image")
    if images is None and image is not None and len(paths) > 1:
        raise ContractError(f"view: --image {image}: {len(paths)} results; a folder with an image for each is needed")
    if images is not None and len(paths) > 1:
        images.check_all([one.stem for one in paths])
    return (
        with_given(read_result(one), image if images is None else images.of(one.stem), camera, anchors) for one in paths
    )
