"""The paper's rules beside a set's own: 80 m everywhere, and NYUv2's anchors from the whole measured image."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.lab.data.base import About, Dataset, Entry, Rules

NYU = Rules(crop="nyu", max_depth_m=10.0, max_range_m=10.0)


@dataclass(frozen=True)
class Room(Dataset):
    """One image of NYUv2's size, 5 m deep, with a window at 20 m; the first rows are filled in."""

    about = About("", "", ())

    @property
    def rules(self) -> Rules:
        return NYU

    def find(self) -> Iterable[Entry]:
        return [Entry("a", "b")]

    def read_image(self, entry: Entry) -> ImageArray:
        return np.zeros((480, 640, 3), np.uint8)

    def read_truth(self, entry: Entry) -> FloatArray:
        truth_m = np.full((480, 640), 5.0, np.float32)
        truth_m[200:300, 200:300] = 20.0
        return truth_m

    def read_measured(self, entry: Entry) -> BoolArray:
        return np.broadcast_to(np.arange(480)[:, None] >= 10, (480, 640))


def test_a_sets_own_rules_draw_where_they_score() -> None:
    sample = Room(Path())[0]
    np.testing.assert_array_equal(sample.readable, sample.scored & sample.measured)
    assert not sample.scored[250, 250]


def test_the_papers_rules_score_to_80_m_and_draw_from_all_that_was_measured() -> None:
    sample = Room(Path(), paper_rules=True)[0]
    np.testing.assert_array_equal(sample.readable, sample.measured)
    assert sample.scored[250, 250]
    assert not sample.scored[20, 20], "pixels outside the crop are not scored, though an anchor may lie there"
    assert sample.rules.max_range_m == 10.0, "the sensor's range is the set's"


@pytest.mark.parametrize("crop", ["garg", "eigen", "none"])
def test_where_the_paper_crops_anchors_are_in_the_crop(crop: str) -> None:
    own = Rules(crop=crop, max_depth_m=50.0, max_range_m=80.0)
    assert own.as_in_paper() == replace(own, max_depth_m=80.0)
