import numpy as np

from mrac.outliers import Truth
from mrac.outliers.near import Near


def test_pulls_the_stated_share_near_and_leaves_the_rest() -> None:
    z = np.linspace(0.2, 9, 50)
    truth = Truth(uv_px=np.zeros((50, 2)), z_m=z, truth_m=np.zeros((0, 0)), max_range_m=0.0)
    read, wrong = Near()(truth, 0.25, np.random.default_rng(0))
    assert wrong.sum() == 12
    np.testing.assert_array_equal(read[~wrong], z[~wrong])
    ratio = read[wrong] / z[wrong]
    assert (ratio < 0.61).all()
    assert ((ratio > 0.19) | (read[wrong] == 0.1)).all()
    assert (read >= 0.1).all()
    again, _ = Near()(truth, 0.25, np.random.default_rng(0))
    np.testing.assert_array_equal(read, again)
