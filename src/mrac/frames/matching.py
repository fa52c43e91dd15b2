"""Which file, or which rows of a table, belong to which frame: by the stem of its name.

Frame 12 of a video has the stem `000012`. Stems of digits alone also match as numbers: `12.csv`, `000012.csv`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mrac.anchors.csv import frame_column
from mrac.errors import ContractError
from mrac.frames.images import files_of, is_pattern, shown
from mrac.io.arrays import read_arrays
from mrac.sfm import holds_model


class FrameFiles:
    """The files of a folder or a pattern, by stem.

    Args:
        path: the folder or pattern.
        option: that named it, for errors.
        without: files that are not meant, such as the images themselves where they share a folder.

    Raises:
        ContractError: there are no files, or two of one stem.
    """

    def __init__(self, path: Path, option: str, without: Collection[Path] = ()) -> None:
        self.path, self.option = path, option
        files = [file for file in files_of(path) if file not in without]
        if not files:
            raise ContractError(f"{option} {path}: no files in it; one for each frame is needed, of the same stem")
        self._by_stem: dict[str, Path] = {}
        for file in files:
            other = self._by_stem.setdefault(file.stem, file)
            if other != file:
                raise ContractError(
                    f"{option} {path}: {other.name} and {file.name} have the same stem; one file for each frame is "
                    f"needed: give a pattern, as '{path if path.is_dir() else path.parent}/*{file.suffix}'"
                )
        self._by_number = {_key(stem): file for stem, file in self._by_stem.items()}

    def __len__(self) -> int:
        return len(self._by_stem)

    def of(self, stem: str) -> Path | None:
        """The file of a frame; None where it has none."""
        return self._by_stem.get(stem) or self._by_number.get(_key(stem))

    def check_all(self, stems: Sequence[str]) -> None:
        """Raises `ContractError`, which names them, where frames have no file."""
        if missing := [stem for stem in stems if self.of(stem) is None]:
            taken = {self.of(stem) for stem in stems}
            left = [file.name for file in self._by_stem.values() if file not in taken]
            unused = f", and no image for {shown(left)}" if left else ""
            raise ContractError(
                f"{self.option} {self.path}: {len(missing)} of {len(stems)} frames have no file of their stem: "
                f"{shown(missing)}{unused}; rename them, or name the images that have one by a pattern"
            )


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A table of the readings of many frames, of which a column `frame` (in an .npz an array) names the frame.

    Attributes:
        path: of the file.
        rows: by frame, which readings of the file are its own.
    """

    path: Path
    rows: dict[str, NDArray[np.intp]]

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, stem: str) -> NDArray[np.intp] | None:
        """The rows of a frame; None where it has none."""
        return self.rows.get(_key(stem))

    def check_all(self, stems: Sequence[str]) -> None:
        """Raises `ContractError`, which names them, where frames have no row."""
        if missing := [stem for stem in stems if self.of(stem) is None]:
            raise ContractError(
                f"--anchors {self.path}: {len(missing)} of {len(stems)} images have no row: {shown(missing)}; the "
                f"column `frame` must hold the stem of their names, it has {shown(list(self.rows))}"
            )


def match(
    path: Path, option: str, without: Collection[Path] = (), tables: bool = False
) -> FrameFiles | FrameTable | None:
    """What a path stands for in a run of many frames; None: one file (or COLMAP model) that serves all of them.

    Args:
        path: a file, a folder or a pattern.
        option: that named it.
        without: files of the folder that are not meant.
        tables: whether a table with a column `frame` is divided.

    Raises:
        ContractError: as `FrameFiles`.
    """
    if is_pattern(path) or (path.is_dir() and not holds_model(path)):
        return FrameFiles(path, option, without)
    names = _names_in(path) if tables and path.is_file() else None
    if names is None:
        return None
    keys: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        keys.setdefault(_key(name), []).append(row)
    return FrameTable(path, {name: np.array(rows, np.intp) for name, rows in keys.items()})


def _names_in(path: Path) -> list[str] | None:
    if path.suffix.lower() == ".npz":
        stored = read_arrays(path, needed=(), optional=("frame",))
        return [str(name) for name in stored["frame"].tolist()] if "frame" in stored else None
    try:
        return frame_column(path) if path.suffix.lower() in (".csv", ".txt", ".tsv") else None
    except UnicodeDecodeError:  # whoever reads the readings says what is wrong
        return None


def _key(name: str) -> str:
    """A frame's name to compare: digits without leading zeros; 12.0, as tables of floats hold it, is 12."""
    text = name.strip()
    text = text[:-2] if text.endswith(".0") and text[:-2].isdecimal() else text
    return str(int(text)) if text.isdecimal() else text
