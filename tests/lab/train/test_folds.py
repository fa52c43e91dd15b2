"""Folds: every scene in one, the same one everywhere, about as many in each."""

from collections import Counter

from mrac.lab.train.folds import fold_of


def test_a_scene_has_one_fold_wherever_it_is_asked_for() -> None:
    # CRC-32's published check value: networks on disk were trained by it, on other machines.
    assert fold_of("123456789", 1000) == 0xCBF43926 % 1000
    assert fold_of("office_0003", 1) == 0


def test_folds_are_about_equal() -> None:
    counts = Counter(fold_of(f"scene_{i}", 4) for i in range(2000))
    assert set(counts) == {0, 1, 2, 3}
    assert min(counts.values()) > 400
