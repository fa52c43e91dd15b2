"""Anchors from files. The ending of a file names its reader: `anchors/csv.py` reads `.csv`."""

import importlib
import pkgutil
from pathlib import Path

from mrac.errors import ContractError
from mrac.types import Anchors


def read_anchors(path: Path, scale: float | None = None, image_shape: tuple[int, int] | None = None) -> Anchors:
    """Reads anchors from a file of any known kind; nothing is judged or dropped yet.

    Args:
        path: .csv (also .txt, .tsv), .npz, or a sparse 16-bit depth .png.
        scale: stored depth per metre where it is not metres: 1000 for millimetres, 256 for KITTI's PNGs.
        image_shape: (H, W) of the image, if known: a depth PNG of another size is refused.

    Raises:
        ContractError: the file is missing, of an unknown kind, or broken.
    """
    kinds = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    kind = path.suffix.lower().removeprefix(".")
    kind = {"txt": "csv", "tsv": "csv"}.get(kind, kind)
    if kind not in kinds:
        raise ContractError(f"anchors: {path} ends in {path.suffix!r}; one of {', '.join(kinds)} is needed")
    if not path.is_file():
        raise ContractError(f"anchors: {path}: no such file")
    if scale is not None and not 1e-6 <= scale <= 1e9:
        raise ContractError(f"anchors: scale {scale:g} arrived; a number from 1e-6 to 1e9 is needed")
    try:
        anchors: Anchors = importlib.import_module(f"mrac.anchors.{kind}").read(path, scale, image_shape)
    except (UnicodeDecodeError, PermissionError) as error:
        raise ContractError(f"anchors: {path} cannot be read: {error}") from None
    return anchors
