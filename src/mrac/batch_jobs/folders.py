"""Frames of a folder: an image and a file of readings whose names have the same stem."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mrac.anchors.sources import kind_of
from mrac.batch_jobs.job import Frame
from mrac.errors import ContractError

# What can be nothing but a picture, and what may also be a depth image.
_PICTURES: Final = (".jpg", ".jpeg", ".webp", ".bmp", ".ppm")
_EITHER: Final = (".png", ".tif", ".tiff")


def frames_in(folder: Path, anchors: Path | None = None, kind: str | None = None) -> Iterator[Frame]:
    """The frames of a folder and the folders below it, by name; hidden files are left out.

    Image and readings have the same stem: `a.jpg` and `a.csv`, or `a.jpg` and the sparse depth `a.png`. Where one of
    the two is missing, or there is more than one, the frame has a `fault`.

    Args:
        folder: of the images.
        anchors: of the readings, with the same folders inside; None: `folder`.
        kind: of the readings, see `SOURCES`; None: by suffix.
    """
    images = _by_stem(folder)
    if anchors is None:
        for stem, paths in images.items():
            pictures = [path for path in paths if path.suffix.lower() in _PICTURES]
            pictures = pictures or [path for path in paths if path.suffix.lower() in _EITHER]
            found = _frame(stem, pictures, [path for path in paths if path not in pictures], kind)
            if found is not None:
                yield found
        return
    readings = _by_stem(anchors)
    for stem in sorted({*images, *readings}):
        pictures = [path for path in images.get(stem, []) if path.suffix.lower() in (*_PICTURES, *_EITHER)]
        found = _frame(stem, pictures, readings.get(stem, []), kind)
        if found is not None:
            yield found


def _by_stem(folder: Path) -> dict[str, list[Path]]:
    """The files below `folder` by their path inside it without the suffix, sorted."""
    found: dict[str, list[Path]] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        inside = path.relative_to(folder)
        if not any(part.startswith(".") for part in inside.parts):
            found.setdefault(inside.with_suffix("").as_posix(), []).append(path)
    return dict(sorted(found.items()))


def _frame(stem: str, pictures: list[Path], others: list[Path], kind: str | None) -> Frame | None:
    """The frame of one stem; None where neither an image nor readings are there, as of a README."""
    readings = [path for path in others if kind is not None or _is_source(path)]
    if not pictures and not readings:
        return None
    if len(pictures) == 1 and len(readings) == 1:
        return Frame(stem, str(pictures[0]), str(readings[0]))
    if not readings:
        fault = f"{pictures[0]}: no readings of the same stem; a file {stem}.csv, .npz, .png, ... is needed beside it"
    elif not pictures:
        fault = f"{readings[0]}: no image of the same stem; a file {stem}.jpg or .png is needed beside it"
    else:
        names = ", ".join(path.name for path in (*pictures, *readings))
        fault = f"{stem}: {names} arrived; one image and one file of readings are needed: move the others away"
    return Frame(stem, str((*pictures, *readings)[0]), fault=fault)


def _is_source(path: Path) -> bool:
    try:
        kind_of(path)
    except ContractError:
        return False
    return True
