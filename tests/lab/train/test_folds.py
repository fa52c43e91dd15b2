"""Folds: every scene in one, the same one everywhere, about as many in each; sets of one place in one fold whole."""

from collections import Counter

import pytest

from mrac.lab.train.folds import fold_of


def test_a_scene_has_one_fold_wherever_it_is_asked_for() -> None:
    # CRC-32's published check value: networks on disk were trained by it, on other machines.
    assert fold_of("nyu", "123456789", 1000) == 0xCBF43926 % 1000
    assert fold_of("another", "123456789", 1000) == 0xCBF43926 % 1000
    assert fold_of("nyu", "office_0003", 1) == 0


def test_folds_are_about_equal() -> None:
    counts = Counter(fold_of("nyu", f"scene_{i}", 4) for i in range(2000))
    assert set(counts) == {0, 1, 2, 3}
    assert min(counts.values()) > 400


@pytest.mark.parametrize(
    ("set_name", "fold"), [("kitti15", 0), ("kitti_seq", 0), ("hololens", 1), ("mosd", 1), ("redkitchen", 1)]
)
def test_a_set_of_one_place_is_left_out_whole(set_name: str, fold: int) -> None:
    scenes = [f"scene_{i}" for i in range(20)]
    for num_folds in (2, 3, 5):
        assert {fold_of(set_name, scene, num_folds) for scene in scenes} == {fold}
    assert fold_of(set_name, "scene_0", 1) == 0, "with one fold there is no other"


@pytest.mark.parametrize("num_folds", [1, 2, 3])
def test_what_was_not_measured_is_in_no_fold(num_folds: int) -> None:
    assert {fold_of("camvid", f"scene_{i}", num_folds) for i in range(20)} == {-1}
