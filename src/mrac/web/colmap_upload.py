"""Readings from an uploaded COLMAP model: its three files, sent together."""

import re
import tempfile
from pathlib import Path, PurePath
from typing import Final

from mrac.anchors import Anchors
from mrac.anchors.sources import SourceOptions, read_source
from mrac.errors import ContractError
from mrac.http import Submission

_CAMERA: Final = re.compile(r"its camera is needed: --camera .*")
_PART: Final = re.compile(r"(cameras|images|points3D|rigs|frames)\.(bin|txt)")


def read_colmap(submission: Submission, image_size: tuple[int, int]) -> Anchors:
    """The points that the model sees in one of its images.

    Args:
        submission: files named as COLMAP does; fields `image_name`, of the picture in the model, and
            `metres_per_unit`, since a model has no scale of its own.
        image_size: (width, height) of the picture as it was uploaded.

    Raises:
        ContractError: a file is missing, broken or of another name, a field is missing, or the image is unknown.
    """
    given = submission.fields
    try:
        scale = float(given.get("metres_per_unit") or 1.0)
    except ValueError:
        raise ContractError(f"colmap: metres per unit {given['metres_per_unit']!r:.40}; a number is needed") from None
    with tempfile.TemporaryDirectory(prefix="mrac-web-") as made:
        folder = Path(made)
        for upload in submission.files.values():
            name = PurePath(upload.name.replace("\\", "/")).name
            if not _PART.fullmatch(name):
                raise ContractError(
                    f"colmap: a file {name[-40:]!r} arrived; cameras, images and points3D of one model are needed, "
                    ".bin or .txt: choose all three at once"
                )
            (folder / name).write_bytes(upload.content)
        options = SourceOptions(
            kind="colmap",
            image_size=image_size,
            image_name=given.get("image_name", ""),
            metres_per_unit=scale,
        )
        try:
            return read_source(folder, options)
        except ContractError as error:  # it names our folder and an option of the command line
            message = str(error).replace(f"the model {folder}", "the model").replace(str(folder), "the model")
            raise ContractError(_CAMERA.sub("a picture of the model's size is needed", message)) from None
