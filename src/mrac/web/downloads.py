"""Files of an outcome to download, each as the library writes it, and all of them in one archive."""

import io
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from PIL import Image

from mrac.anchors import csv
from mrac.errors import ContractError
from mrac.io.files import PNG_LEVEL, write_arrays
from mrac.result.folder import write_result
from mrac.web.catalogue import ARCHIVE, FILES
from mrac.web.outcome import Outcome
from mrac.web.python_lines import anchors_file

_OF_FOLDER: Final = ("preview.png", "report.json")
TYPES: Final = {
    ".npz": "application/octet-stream",
    ".png": "image/png",
    ".ply": "application/octet-stream",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".py": "text/x-python; charset=utf-8",
    ".zip": "application/zip",
}


def download(outcome: Outcome, name: str) -> bytes:
    """The content of one file, or of the archive of all.

    The library's writers take paths: they write to a folder in the system's place for temporary files, which is gone
    when this returns.

    Raises:
        ContractError: there is no file of that name.
    """
    with tempfile.TemporaryDirectory(prefix="mrac-web-") as made:
        folder = Path(made)
        if name == ARCHIVE:
            return _archive(outcome, folder)
        if name in _OF_FOLDER:
            _write_folder(outcome, folder)
        elif name in _WRITERS:
            _WRITERS[name](outcome, folder / name)
        else:
            raise ContractError(f"download: there is no {name!r:.60}; known: {', '.join(FILES)}")
        return (folder / name).read_bytes()


def _archive(outcome: Outcome, folder: Path) -> bytes:
    _write_folder(outcome, folder)
    for name, write in _WRITERS.items():
        if not name.startswith("anchors.") or name == anchors_file(outcome.readings.anchors):
            write(outcome, folder / name)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:  # maps and pictures are compressed already
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    return packed.getvalue()


def _write_folder(outcome: Outcome, folder: Path) -> None:
    inputs: dict[str, Any] = {"page": asdict(outcome.recipe), "picture": outcome.scene.title}
    write_result(folder, outcome.result, outcome.readings.anchors, inputs, image=outcome.scene.image)


def _write_points(outcome: Outcome, path: Path) -> None:
    camera = outcome.scene.camera_at(outcome.recipe.focal_px)
    outcome.result.save(path, image=outcome.scene.image, camera=camera)


def _write_image(outcome: Outcome, path: Path) -> None:
    Image.fromarray(outcome.scene.image).save(path, format="PNG", compress_level=PNG_LEVEL)


def _write_anchors(outcome: Outcome, path: Path) -> None:
    csv.write(path, outcome.readings.anchors)


def _write_anchor_arrays(outcome: Outcome, path: Path) -> None:
    columns = vars(outcome.readings.anchors)
    write_arrays(path, **{name: values for name, values in columns.items() if values is not None})


def _write_script(outcome: Outcome, path: Path) -> None:
    path.write_text(outcome.script, encoding="utf-8")


_WRITERS: Final[dict[str, Callable[[Outcome, Path], object]]] = {
    "depth.npz": lambda outcome, path: outcome.result.save(path),
    "depth.png": lambda outcome, path: outcome.result.save(path),
    "points.ply": _write_points,
    "image.png": _write_image,
    "anchors.csv": _write_anchors,
    "anchors.npz": _write_anchor_arrays,
    "calibrate.py": _write_script,
}
