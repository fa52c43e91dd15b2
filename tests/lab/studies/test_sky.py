"""The share of the sky that a foundation puts behind the scene."""

import numpy as np

from mrac.lab.studies.sky import share_behind


def test_counts_the_sky_s_pixels_beyond_95_per_cent_of_the_rest() -> None:
    log_depth = np.linspace(0.0, 1.0, 2000).reshape(40, 50)
    sky = np.zeros((40, 50), np.bool_)
    sky[:4] = True  # the nearest pixels of all
    assert share_behind(log_depth, sky, ~sky) == 0.0
    log_depth[:3] = 2.0
    assert share_behind(log_depth, sky, ~sky) == 0.75
