import numpy as np
import pytest

from mrac.lab.bench.report.bootstrap import interval, mean_intervals, resampled_means, weights


def test_the_same_images_are_drawn_for_a_set_every_time_and_others_for_another() -> None:
    again = weights.__wrapped__(20, "nyu")
    np.testing.assert_array_equal(weights(20, "nyu"), again)
    assert not np.array_equal(again, weights(20, "tum"))
    assert not np.array_equal(again, weights(20, "nyu", 1))
    assert weights(20, "nyu").shape == (1000, 20)
    np.testing.assert_array_equal(weights(20, "nyu").sum(axis=1), 20)


def test_means_are_those_of_drawing_images_one_by_one() -> None:
    rng = np.random.default_rng(0)
    values = rng.uniform(size=(3, 12))
    values[1, 4] = np.nan
    drawn = weights(12, "nyu")[:50]
    means = resampled_means(values, drawn)
    for b in range(50):
        images = np.repeat(np.arange(12), drawn[b].astype(int))
        np.testing.assert_allclose(means[b], np.nanmean(values[:, images], axis=1))


def test_the_interval_of_the_mean_holds_it_as_often_as_it_says() -> None:
    # 400 experiments of 60 images; the truth is 1. Percentile intervals of skewed errors are a little short.
    rng = np.random.default_rng(1)
    values = rng.gamma(4.0, 0.25, size=(400, 60))
    low, high = mean_intervals(values, "made")
    covered = np.mean((low <= 1.0) & (high >= 1.0))
    assert 0.90 <= covered <= 0.98
    normal = 1.96 * values.std(axis=1, ddof=1) / np.sqrt(60)
    np.testing.assert_allclose(np.mean(high - low), np.mean(2 * normal), rtol=0.05)


def test_ends_are_values_that_occur() -> None:
    low, high = interval(np.array([0.0] * 500 + [1.0] * 500))
    assert (float(low), float(high)) == (0.0, 1.0)


def test_a_cell_without_values_has_no_interval_and_disturbs_no_other() -> None:
    values = np.array([[np.nan, np.nan, np.nan], [1.0, 2.0, 3.0], [np.nan, 5.0, np.nan]])
    low, high = mean_intervals(values, "nyu")
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert 1.0 <= low[1] < high[1] <= 3.0
    assert low[2] == high[2] == pytest.approx(5.0)


def test_drawn_weights_cannot_be_changed_by_whoever_uses_them() -> None:
    with pytest.raises(ValueError, match="read-only"):
        weights(20, "nyu")[0, 0] = 7
