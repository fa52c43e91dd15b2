"""The per-image rows of runs, looked up by cell: means over images, spreads over seeds, failures counted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.lab.bench.protocol import CLEAN, TRUTH
from mrac.lab.bench.store import COLUMNS

_TEXT: Final = frozenset(name for name, kind in COLUMNS.items() if kind == "string")


@dataclass(frozen=True, kw_only=True, order=True)
class CellKey:
    """A condition and a method, whatever the seed; what is not said is the paper's default."""

    set: str
    method: str
    family: str = CLEAN
    fraction: float = 0.0
    num_anchors: int = 50
    placement: str = "random"
    source: str = TRUTH

    @property
    def stored(self) -> "CellKey":
        """As runs store it: without injection the family does not matter, and one clean cell serves all."""
        injected_none = self.source == TRUTH and self.fraction == 0.0
        return replace(self, family=CLEAN) if injected_none else self

    def with_method(self, method: str) -> "CellKey":
        """The same condition for another method."""
        return replace(self, method=method)


KEY: Final = tuple(field.name for field in fields(CellKey))


@dataclass(frozen=True)
class Mean:
    """One metric of one cell.

    Attributes:
        value: mean over seeds of the mean over images; None where no image has one.
        spread: standard deviation over seeds, with n − 1 as in the paper; None for a single seed.
        num_images: rows, over all seeds.
        num_failed: rows without metrics.
    """

    value: float | None
    spread: float | None
    num_images: int
    num_failed: int


class Results:
    """Rows of one or more runs, by cell and seed.

    Args:
        columns: by name, as `mrac.lab.bench.store.read_run` gives them, all of one length; what is missing is None.

    Raises:
        ContractError: a column that names the cell is not there, or two rows are of one image of one cell.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        absent = [name for name in (*KEY, "seed", "image") if name not in columns]
        if absent:
            raise ContractError(f"bench report: the run has no column {absent[0]!r}; was it written by this version?")
        self.columns: dict[str, NDArray[Any]] = {name: _array(name, values) for name, values in columns.items()}
        self._rows = self._grouped()

    def _grouped(self) -> dict[CellKey, dict[int, NDArray[np.intp]]]:
        """Row numbers by cell and seed, each in the order of the image ids."""
        names = (*KEY, "seed")
        codes = [np.unique(self.columns[name], return_inverse=True)[1] for name in ("image", *reversed(names))]
        order = np.lexsort(codes)
        if not order.size:
            return {}
        keys = np.stack([code[order] for code in codes[:0:-1]])
        new = np.append(True, np.any(keys[:, 1:] != keys[:, :-1], axis=0))
        if np.any(~new[1:] & (np.diff(codes[0][order]) == 0)):
            raise ContractError(
                "bench report: one image of one cell comes twice; runs that are read together must differ"
            )
        rows: dict[CellKey, dict[int, NDArray[np.intp]]] = {}
        for group in np.split(order, np.flatnonzero(new)[1:]):
            *key, seed = (self.columns[name][group[0]].item() for name in names)
            rows.setdefault(CellKey(**dict(zip(KEY, key, strict=True))), {})[int(seed)] = group
        return rows

    @property
    def cells(self) -> frozenset[CellKey]:
        """All that have rows."""
        return frozenset(self._rows)

    def __len__(self) -> int:
        return len(self.columns["image"])

    def has(self, cell: CellKey) -> bool:
        """Whether the cell has rows, for any seed."""
        return bool(self.seeds(cell))

    def seeds(self, cell: CellKey) -> list[int]:
        """Those the cell was run with, in order."""
        return sorted(self._rows.get(cell.stored, {}))

    def column(self, name: str, cell: CellKey, seed: int) -> NDArray[Any]:
        """(N,) of one cell and seed in the order of the image ids; empty where there is none."""
        rows = self._rows.get(cell.stored, {}).get(seed)
        return self.columns[name][[] if rows is None else rows]

    def rows(self, cell: CellKey) -> NDArray[np.intp]:
        """The numbers of a cell's rows in `columns`, over all seeds; empty where there is none."""
        own = self._rows.get(cell.stored, {})
        return np.concatenate([own[seed] for seed in sorted(own)]) if own else np.empty(0, np.intp)

    def mean(self, metric: str, cell: CellKey, seeds: Iterable[int] | None = None) -> Mean:
        """One metric of a cell.

        Args:
            metric: a column of numbers.
            cell: which.
            seeds: to take the mean over; None takes all there are.
        """
        wanted = self.seeds(cell)
        if seeds is not None:
            wanted = [seed for seed in seeds if seed in wanted]
        values = [self.column(metric, cell, seed) for seed in wanted]
        failed = [self.column("failure", cell, seed) for seed in wanted] if "failure" in self.columns else []
        means = [float(np.nanmean(one)) for one in values if np.isfinite(one).any()]
        return Mean(
            value=float(np.mean(means)) if means else None,
            spread=float(np.std(means, ddof=1)) if len(means) > 1 else None,
            num_images=sum(len(one) for one in values),
            num_failed=sum(int(np.count_nonzero(one != "")) for one in failed),
        )

    def per_image(self, metric: str, cell: CellKey, seeds: Iterable[int] | None = None) -> dict[str, float]:
        """Image id to the mean over seeds; NaN where the image failed with each of them."""
        wanted = self.seeds(cell) if seeds is None else [seed for seed in seeds if seed in self.seeds(cell)]
        found: dict[str, list[float]] = {}
        for seed in wanted:
            images, values = self.column("image", cell, seed), self.column(metric, cell, seed)
            for image, value in zip(images.tolist(), values.tolist(), strict=True):
                found.setdefault(image, []).append(value)
        return {image: _finite_mean(values) for image, values in found.items()}

    def matrix(self, metric: str, cells: Sequence[CellKey], seeds: Iterable[int] | None = None) -> FloatArray:
        """(cells, images) of cells that share their images, NaN where an image has no value; columns by image id."""
        rows = [self.per_image(metric, cell, seeds) for cell in cells]
        images = sorted({image for row in rows for image in row})
        return np.array([[row.get(image, np.nan) for image in images] for row in rows]).reshape(len(cells), len(images))


def _finite_mean(values: Sequence[float]) -> float:
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else float("nan")


def _array(name: str, values: Sequence[Any]) -> NDArray[Any]:
    """Text with "" for None, whole numbers as they are, other numbers as float64 with NaN for None."""
    kept = [value for value in values if value is not None]
    if name in _TEXT or (kept and all(isinstance(value, str) for value in kept)):
        return np.array(["" if value is None else value for value in values], dtype=np.str_)
    if kept and len(kept) == len(values) and all(isinstance(value, int) for value in kept):
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def joined(tables: Sequence[Mapping[str, Sequence[Any]]]) -> tuple[dict[str, list[Any]], int]:
    """Several runs' columns as one; a cell and seed that an earlier run has are not taken from a later one again.

    Returns:
        The columns, and how many rows were left out.
    """
    names = list(dict.fromkeys(name for table in tables for name in table))
    together: dict[str, list[Any]] = {name: [] for name in names}
    taken: set[tuple[Any, ...]] = set()
    left_out = 0
    for table in tables:
        keys = list(zip(*(table[name] for name in (*KEY, "seed")), strict=True))
        keep = [key not in taken for key in keys]
        taken.update(keys)
        left_out += len(keys) - sum(keep)
        for name in names:
            column = table.get(name, [None] * len(keys))
            together[name] += [value for value, wanted in zip(column, keep, strict=True) if wanted]
    return together, left_out
