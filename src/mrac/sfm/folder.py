"""Finds and reads the files of a model: what COLMAP writes to `sparse/0`, and hloc to its output folder."""

from pathlib import Path
from typing import Final

from mrac.camera.colmap import read_cameras
from mrac.errors import ContractError
from mrac.sfm import binary, text
from mrac.sfm.model import SfmModel

_FILES: Final = ("cameras", "images", "points3D")
_READERS: Final = {".bin": binary, ".txt": text}  # of a folder with both, COLMAP too reads the binary ones
_BELOW: Final = ("sparse", "*", "sparse/*", "models/*")  # where COLMAP and hloc put models


def read_model(folder: Path | str) -> SfmModel:
    """Reads a COLMAP model, binary or text; `rigs` and `frames` files are not needed.

    Args:
        folder: with cameras, images and points3D, `.bin` or `.txt`; or one above it that holds a single model.

    Raises:
        ContractError: there is no model or more than one, or a file is broken.
    """
    place, suffix = _find(Path(folder))
    reader = _READERS[suffix]
    images = reader.read_images(place / f"images{suffix}")
    model = SfmModel(
        folder=place,
        cameras=read_cameras(place / f"cameras{suffix}"),
        images={image.image_id: image for image in images},
        points=reader.read_points(place / f"points3D{suffix}"),
    )
    for image in images:
        if image.camera_id not in model.cameras:
            raise ContractError(
                f"sfm: {place}: image {image.name!r} is of camera {image.camera_id}, which cameras{suffix} does not "
                "hold; images and cameras of one model are needed"
            )
    return model


def holds_model(folder: Path) -> bool:
    """Whether a folder holds a model, or folders below it do, where COLMAP and hloc put them."""
    places = (folder, *(place for pattern in _BELOW for place in folder.glob(pattern)))
    return any(_suffix_of(place) for place in places)


def _find(folder: Path) -> tuple[Path, str]:
    if not folder.is_dir():
        raise ContractError(f"sfm: {folder}: no such folder; one with {_wanted()} is needed")
    if suffix := _suffix_of(folder):
        return folder, suffix
    below = sorted({place for pattern in _BELOW for place in folder.glob(pattern)})
    found = [(place, suffix) for place in below if (suffix := _suffix_of(place))]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(str(place) for place, _ in found[:5])
        raise ContractError(f"sfm: {folder} holds {len(found)} models: {names}; give the folder of one of them")
    raise ContractError(f"sfm: {folder}: no model in it; {_wanted()} are needed")


def _suffix_of(folder: Path) -> str:
    """Of the files of the model in a folder; empty if it holds none."""
    return next((s for s in _READERS if all((folder / f"{stem}{s}").is_file() for stem in _FILES)), "")


def _wanted() -> str:
    return f"{', '.join(_FILES)}, all .bin or all .txt,"
