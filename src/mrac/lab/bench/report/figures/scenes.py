"""Frames seen again for figures that show images: the same anchors as in the run, drawn from the same seeds.

Photographs and depth of a data set are its owners': a figure that shows them may be looked at by whoever has the data.
Panels of NYUv2's images may not be committed to this repository or published; of any other set only where its terms
allow it, with its name. So a report shows none unless it is asked to (`--photos`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.foundation._cached import predict
from mrac.lab.bench.conditions import Drawn, Draws
from mrac.lab.bench.methods import parse_method
from mrac.lab.bench.protocol import Condition, Protocol
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import paper_set
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.work import sets_in
from mrac.lab.data import Dataset, Sample
from mrac.metrics import clip_depth
from mrac.result import MetricDepth
from mrac.runtime.cache import default_store
from mrac.types import RelativeDepth

_LEARNERS: Final = ("vi_depth", "sml_retrained")
_KEPT: Final = 4  # frames in memory, with every method's depth: figures share some


@dataclass(frozen=True, eq=False)
class Seen:
    """One frame under one condition, by several methods.

    Attributes:
        sample: the frame.
        drawn: its anchors, and which of them are wrong.
        answers: by method.
    """

    sample: Sample
    drawn: Drawn
    answers: Mapping[str, MetricDepth]

    def error(self, method: str) -> FloatArray:
        """(H, W) relative error of the clipped prediction, NaN where nothing is scored."""
        rules, truth_m = self.sample.rules, self.sample.truth_m
        depth_m = clip_depth(self.answers[method].depth_m, rules.min_depth_m, rules.max_depth_m)
        with np.errstate(invalid="ignore"):
            return np.where(self.sample.scored, np.abs(depth_m - truth_m) / truth_m, np.nan)

    def abs_rel(self, method: str) -> float:
        """Of this frame."""
        return float(np.nanmean(self.error(method)))

    def rejected(self, method: str) -> BoolArray:
        """(K,) the anchors that the method did not use."""
        return ~self.answers[method].anchors.keep


class Scenes:
    """Frames of one set of a run, to be looked at again.

    Args:
        context: of the report.
        data: the folder that the run saw.

    Raises:
        ContractError: the folder has none of the run's sets.
    """

    def __init__(self, context: Context, data: Path) -> None:
        self._context = context
        self._seen: dict[int, Seen] = {}
        there = sets_in(data)
        names = [name for name in context.grid_names("set", family="near") if name in there]
        if not names:
            raise ContractError(f"bench report: --data {data} has none of the run's sets with near readings")
        # The paper shows KITTI, where the gap is widest; any other set will do.
        self.set_name = next((name for name in names if paper_set(name) == "kitti"), names[0])
        self.dataset: Dataset = there[self.set_name]
        self.condition = Condition(set_name=self.set_name, family="near", fraction=0.25)
        run = next((run for run in context.runs if self.set_name in run.get("sets", {})), None)
        content = run["protocol"] if run else {"grid": [{"sets": [self.set_name], "methods": ["vanilla"]}]}
        self._protocol = Protocol.of({name: value for name, value in content.items() if value is not None})

    @cached_property
    def methods(self) -> list[str]:
        """The paper's three columns and our own, those of them that were run."""
        run = self._context.grid_names("method", set=self.set_name, family="near")
        learner = next((name for name in _LEARNERS if name in run), "")
        return [name for name in ("vanilla", learner, "mrac_b_prime", "default") if name in run]

    @cached_property
    def by_gap(self) -> list[int]:
        """Places of the set's frames, by how much the ungated learner, or vanilla, errs more than the gated head."""
        results = self._context.results
        worse = next((m for m in (*_LEARNERS, "vanilla") if m in self.methods), self.methods[0])
        gated = "mrac_b_prime" if "mrac_b_prime" in self.methods else self.methods[-1]
        cells = [CellKey(set=self.set_name, method=m, family="near", fraction=0.25) for m in (worse, gated)]
        first, second = (results.per_image("abs_rel", cell, [0]) for cell in cells)
        gaps = {image: first[image] - second[image] for image in first.keys() & second.keys()}
        places = {entry.id: place for place, entry in enumerate(self.dataset.entries)}
        known = [image for image, gap in gaps.items() if image in places and np.isfinite(gap)]
        return [places[image] for image in sorted(known, key=lambda image: (gaps[image], image))]

    def typical(self, count: int) -> list[int]:
        """At most `count` frames, evenly spaced in the order of that gap: for one, the median."""
        ranked = self.by_gap
        num = min(count, len(ranked))
        return [ranked[int((i + 0.5) * len(ranked) / num)] for i in range(num)]

    def see(self, place: int) -> Seen:
        """Runs the methods on a frame under 25 % near readings, K = 50, seed 0; the last few frames are kept."""
        if place not in self._seen:
            self._seen[place] = self._run(place)
        while len(self._seen) > _KEPT:
            del self._seen[next(iter(self._seen))]
        return self._seen[place]

    def _run(self, place: int) -> Seen:
        sample = self.dataset[place]
        drawn = Draws(sample, self._protocol, _no_uncertainty)(self.condition)
        fields: dict[str, RelativeDepth | None] = {}
        answers = {}
        for method in self.methods:
            calibrator = _calibrators.setdefault(method, parse_method(method).calibrator())
            name = repr(calibrator.foundation)
            if name not in fields:
                fields[name], _ = predict(calibrator.foundation, sample.image, default_store())
            answers[method] = calibrator(sample.image, drawn.anchors, fields[name])
        return Seen(sample, drawn, answers)


_calibrators: Final[dict[str, Any]] = {}


def _no_uncertainty(_: Anchors) -> FloatArray:
    raise ContractError("bench report: figures show readings placed at random")
