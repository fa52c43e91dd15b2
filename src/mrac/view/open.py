"""Whatever a path stands for, as frames for the viewer."""

from collections.abc import Iterator
from pathlib import Path

from mrac.errors import ContractError
from mrac.frames import FrameFiles
from mrac.view.frame import ViewFrame
from mrac.view.results import read_result, result_paths, with_given


def frames_of(
    path: Path | str, *, image: Path | None = None, camera: Path | None = None, anchors: Path | None = None
) -> Iterator[ViewFrame]:
    """The frames of a result, of a folder of results, or of a recording of `mrac bag`, one at a time.

    Args:
        path: of any of them.
        image: a file, or of many results a folder with one for each, of the same stem.
        camera: a file of `read_camera`, of all frames.
        anchors: the readings of one result, where it does not hold their positions.

    Raises:
        ContractError: there is no result, or a file does not fit; at once, or when its frame is read.
    """
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
