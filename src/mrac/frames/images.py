"""The image files that folders, patterns and names stand for, in their natural order."""

import glob
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mrac.errors import ContractError

IMAGE_SUFFIXES: Final = (
    ".bmp", ".jp2", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
_SHOWN: Final = 5


def list_images(given: Sequence[Path]) -> list[Path]:
    """The images of a run: `a2` comes before `a10`.

    Args:
        given: files, folders (their images, not those of folders inside), patterns (`frames/*_rgb.png`).

    Raises:
        ContractError: there are none, or two of one stem, whose results would have one name.
    """
    found = list(dict.fromkeys(path for each in given for path in _images_of(each)))
    by_stem: dict[str, Path] = {}
    for path in found:
        other = by_stem.setdefault(path.stem, path)
        if other != path:
            raise ContractError(
                f"images: {other} and {path} have the same stem, which names the result; one of them is needed: give "
                "a pattern, as 'frames/*.jpg'"
            )
    return found


def is_pattern(path: Path) -> bool:
    """Whether a path that does not exist is a pattern for several."""
    return glob.has_magic(str(path)) and not path.exists()


def files_of(path: Path) -> list[Path]:
    """The files in a folder or of a pattern, hidden ones left out, in natural order."""
    # pathlib's own takes no absolute patterns
    names = path.iterdir() if path.is_dir() else glob.glob(str(path), recursive=True)  # noqa: PTH207
    found = [Path(name) for name in names]
    return sorted((p for p in found if p.is_file() and not p.name.startswith(".")), key=natural_order)


def natural_order(path: Path) -> tuple[tuple[int, int, str], ...]:
    """A key by which runs of digits compare as numbers."""
    parts = re.split(r"(\d+)", str(path))
    return tuple((1, int(part), part) if part.isdecimal() else (0, 0, part) for part in parts if part)


def shown(names: Sequence[object]) -> str:
    """The first few of many names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(str, names[:_SHOWN])) + more


def _images_of(path: Path) -> list[Path]:
    if not path.is_dir() and not is_pattern(path):
        return [path]
    found = files_of(path)
    images = [file for file in found if file.suffix.lower() in IMAGE_SUFFIXES]
    if not images:
        others = f" ({shown([file.name for file in found])})" if found else ""
        raise ContractError(
            f"images: no image in {path}{others}; files that end in {', '.join(IMAGE_SUFFIXES)} are needed"
        )
    return images
