"""What lies above every reading is at least so far away."""

import numpy as np
import torch

from mrac.lab.train.above_readings import bound_above, only_below_horizon
from mrac.lab.train.foundation.losses import bound_l1


def test_above_a_wall_nothing_is_much_nearer_than_the_wall() -> None:
    z = np.zeros((40, 60), np.float32)
    z[20:] = 10.0
    z[:5, 30:] = np.inf
    bounded = bound_above(z)
    np.testing.assert_array_equal(bounded[20:], z[20:])
    np.testing.assert_array_equal(bounded[:5, 30:], np.inf)
    np.testing.assert_allclose(bounded[:20, :30], -4.0)


def test_the_nearest_column_around_speaks() -> None:
    z = np.zeros((40, 200), np.float32)
    z[20:] = 50.0
    z[20:, 100] = 5.0  # a trunk, whose crown hangs over its neighbours
    bounded = bound_above(z)
    assert bounded[0, 100] == bounded[0, 112] == -2.0
    assert bounded[0, 0] == -20.0


def test_without_readings_nothing_is_bounded() -> None:
    np.testing.assert_array_equal(bound_above(np.zeros((8, 9), np.float32)), 0.0)


def test_what_a_network_saw_above_the_horizon_is_forgotten_but_for_the_sky() -> None:
    z = np.full((10, 4), 7.0, np.float32)
    z[0] = np.inf
    below = only_below_horizon(z)
    np.testing.assert_array_equal(below[0], np.inf)
    np.testing.assert_array_equal(below[1:5], 0.0)
    np.testing.assert_array_equal(below[5:], 7.0)


def test_only_nearer_than_a_bound_costs() -> None:
    z = torch.tensor([[[-4.0, -4.0, 3.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]]])
    predicted = torch.log(torch.tensor([[[2.0, 8.0, 9.0, 9.0]], [[5.0, 5.0, 5.0, 5.0]]]))
    loss = bound_l1(predicted, z, torch.zeros(2))
    torch.testing.assert_close(loss, torch.tensor([np.log(2.0) / 2, 0.0], dtype=torch.float32))
    torch.testing.assert_close(bound_l1(predicted, z, torch.tensor([float(np.log(0.5)), 0.0]))[0], torch.tensor(0.0))
