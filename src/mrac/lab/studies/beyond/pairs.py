"""Two methods on the same images of the same conditions, and how sure what follows from them is."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.lab.bench.report.bootstrap import LEVEL, interval, resampled_means, weights
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.studies.claim import FAMILIES, FRACTIONS, SETS, NotRunError

OURS: Final = "default"
CONDITIONS: Final = (
    *(CellKey(set=s, method="") for s in SETS),
    *(CellKey(set=s, method="", family=f, fraction=p) for s in SETS for f in FAMILIES for p in FRACTIONS[1:]),
)
"""The grid of the paper, the clean condition of each set once: 4 + 48."""
Statistic = Callable[[FloatArray, FloatArray], FloatArray]
"""From means (..., cells) of two methods to a figure (...)."""


@dataclass(frozen=True)
class Estimate:
    """A number and the ends of its 95 % interval under resampling of the images of each set."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Pair:
    """AbsRel of two methods in every condition that both have, on the images that both have.

    Attributes:
        conditions: C of them, set by set.
        ours: (C,) means over images.
        theirs: (C,) the same.
        ours_drawn: (resamples, C) means over resampled images, the same ones for both methods and all cells of a set.
        theirs_drawn: (resamples, C).
        num_images: (C,) how many.
    """

    conditions: tuple[CellKey, ...]
    ours: FloatArray
    theirs: FloatArray
    ours_drawn: FloatArray
    theirs_drawn: FloatArray
    num_images: NDArray[np.int64]

    def only(self, keep: Callable[[CellKey], bool] = lambda _: True, *, set_name: str = "") -> "Pair":
        """The conditions that are wanted, of one set or of all.

        Raises:
            NotRunError: none of them is.
        """
        at = [i for i, c in enumerate(self.conditions) if keep(c) and set_name in ("", c.set)]
        if not at:
            raise NotRunError("no condition that both methods have")
        arrays = (self.ours[at], self.theirs[at], self.ours_drawn[:, at], self.theirs_drawn[:, at], self.num_images[at])
        return Pair(tuple(self.conditions[i] for i in at), *arrays)

    def figure(self, statistic: Statistic) -> Estimate:
        low, high = interval(statistic(self.ours_drawn, self.theirs_drawn))
        return Estimate(float(statistic(self.ours, self.theirs)), float(low), float(high))

    @property
    def images(self) -> str:
        """`135 images of each set`, or how many of each."""
        by_set = dict(zip((c.set for c in self.conditions), self.num_images.tolist(), strict=True))
        if len(set(by_set.values())) == 1:
            return f"{next(iter(by_set.values()))} images of each set"
        return ", ".join(f"{SETS.get(name, name)} {n}" for name, n in by_set.items()) + " images"


def regret(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """By how much ours is over theirs, as a share, mean over cells: each cell weighs the same, however hard it is."""
    return np.asarray((ours / theirs).mean(axis=-1) - 1.0)


def ratio(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """Of the means over cells."""
    return np.asarray(ours.mean(axis=-1) / theirs.mean(axis=-1))


def pair(results: Results, ours: str, theirs: str, conditions: Iterable[CellKey] = CONDITIONS) -> Pair:
    """Both methods wherever both have been run; images that failed with one of them are left out.

    Raises:
        NotRunError: nowhere.
    """
    parts: list[Pair] = []
    in_order = sorted(conditions, key=lambda c: c.set)
    for set_name, own in groupby(in_order, key=lambda c: c.set):
        found = [(c, v) for c in own if (v := together(results, c, (ours, theirs))).size]
        for num_images, some in groupby(found, key=lambda one: one[1].shape[1]):
            cells, values = zip(*some, strict=True)
            drawn = weights(num_images, set_name)
            both = np.stack(values)  # (cells, 2, images)
            a, b = (resampled_means(both[:, which], drawn) for which in (0, 1))
            means = both.mean(axis=2)
            counts = np.full(len(cells), num_images, np.int64)
            parts.append(Pair(tuple(cells), means[:, 0], means[:, 1], a, b, counts))
    if not parts:
        raise NotRunError(f"{ours} and {theirs}")
    return Pair(
        tuple(c for part in parts for c in part.conditions),
        *(np.concatenate([getattr(part, name) for part in parts], axis=-1)
          for name in ("ours", "theirs", "ours_drawn", "theirs_drawn", "num_images")),
    )  # fmt: skip


def together(
    results: Results, condition: CellKey, methods: Sequence[str], metric: str = "abs_rel", seeds: Sequence[int] = (0,)
) -> FloatArray:
    """(methods, images) on the images that all of them have a value for; no column where one has not been run.

    Args:
        results: of runs.
        condition: the methods' name in it does not matter.
        methods: which.
        metric: a column of numbers.
        seeds: to take the mean over, image by image.
    """
    return on_same_images(results, [replace(condition, method=m) for m in methods], metric, seeds)


def on_same_images(
    results: Results, cells: Sequence[CellKey], metric: str = "abs_rel", seeds: Sequence[int] = (0,)
) -> FloatArray:
    """(cells, images), see `together`."""
    rows = [results.per_image(metric, cell, seeds) for cell in cells]
    images = sorted(set.intersection(*(set(row) for row in rows)))
    values = np.array([[row[image] for image in images] for row in rows]).reshape(len(cells), len(images))
    return values[:, np.isfinite(values).all(axis=0)]


def difference(values: FloatArray, set_name: str, level: float = LEVEL) -> Estimate:
    """Mean of the first row of (2, images) less that of the second, with the interval of that level.

    Raises:
        NotRunError: there is no image.
    """
    if not values.size:
        raise NotRunError("images that have a value in both of two cells")
    apart = values[:1] - values[1:]
    low, high = interval(resampled_means(apart, weights(apart.shape[1], set_name)), level)
    return Estimate(float(apart.mean()), float(low[0]), float(high[0]))


def is_variant(method: str) -> bool:
    """Whether it is our method with other numbers in a stage, and not with another stage."""
    name, *stages = method.split(";")
    return name == OURS and bool(stages) and all(":" in stage for stage in stages)
