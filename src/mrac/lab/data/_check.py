"""Whether a set is as its protocol wants it: files there, frames decode, as many as there should be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mrac.errors import MracError
from mrac.lab.data.base import Dataset, Sample


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was found of one set.

    Attributes:
        name: of the set.
        num_frames: listed.
        expected: in the official set, where known.
        size: width × height of the frames that were decoded; a range where they differ.
        with_truth: share of pixels with truth, mean over the decoded frames.
        scored: share of pixels that are scored, likewise.
        depth_m: least, median and largest scored truth of the decoded frames.
        problem: in words; empty if there is none.
    """

    name: str
    num_frames: int = 0
    expected: int | None = None
    size: str = ""
    with_truth: float = 0.0
    scored: float = 0.0
    depth_m: tuple[float, ...] = ()
    problem: str = ""

    def row(self) -> tuple[str, ...]:
        """For a table: set, frames, size, with truth, scored, depth, state."""
        of = f" of {self.expected}" if self.expected not in (None, self.num_frames) else ""
        return (
            self.name,
            f"{self.num_frames}{of}",
            self.size,
            f"{self.with_truth:.1%}" if self.size else "",
            f"{self.scored:.1%}" if self.size else "",
            " / ".join(f"{z:.2f}" for z in self.depth_m),
            "see below" if self.problem else "ok",
        )


def check_set(dataset: Dataset, every: bool = False) -> Checked:
    """Lists a set, looks for the files of every frame, and decodes the first, middle and last, or all of them."""
    try:
        num_frames = len(dataset)
        for entry in dataset.entries:
            dataset.require_files(entry)
        picked = range(num_frames) if every else sorted({0, num_frames // 2, num_frames - 1})
        facts = [_facts(dataset[i]) for i in picked]
    except MracError as error:
        listed = len(dataset.__dict__.get("entries", ()))  # a layout that is not there has none
        return Checked(name=dataset.name, num_frames=listed, expected=dataset.expected, problem=str(error))
    problem = ""
    if dataset.expected not in (None, num_frames):
        problem = f"{dataset.name} has {num_frames} frames, the official set {dataset.expected}"
    depths = np.concatenate([scored_m for _, _, scored_m in facts])
    if not depths.size:
        problem = problem or f"{dataset.name}: no pixel of the {len(facts)} decoded frames is scored"
    return Checked(
        name=dataset.name,
        num_frames=num_frames,
        expected=dataset.expected,
        size=_size([shape for shape, _, _ in facts]),
        with_truth=float(np.mean([share for _, share, _ in facts])),
        scored=float(np.mean([scored_m.size / (shape[0] * shape[1]) for shape, _, scored_m in facts])),
        depth_m=tuple(float(q) for q in np.quantile(depths, [0.0, 0.5, 1.0])) if depths.size else (),
        problem=problem,
    )


def _facts(sample: Sample) -> tuple[tuple[int, int], float, "np.ndarray[tuple[int], np.dtype[np.floating]]"]:
    """Shape, share of pixels with truth, scored truth."""
    truth_m = sample.truth_m
    for source in sample.sources:
        sample.readings(source)
    return (truth_m.shape[0], truth_m.shape[1]), float(np.isfinite(truth_m).mean()), truth_m[sample.scored]


def _size(shapes: Sequence[tuple[int, int]]) -> str:
    heights, widths = sorted({h for h, _ in shapes}), sorted({w for _, w in shapes})
    return "×".join(str(x[0]) if len(x) == 1 else f"{x[0]}–{x[-1]}" for x in (widths, heights))
