import numpy as np
import pytest
import torch

from mrac.lab.train.scale_map.loss import fresh_learner, learner_loss, network_input
from mrac.vi_depth import refinement
from mrac.vi_depth.predictors import predictor


def test_a_fresh_learner_gives_the_alignment_back() -> None:
    network = fresh_learner().eval()
    with torch.no_grad():
        assert bool((network(torch.randn(1, 2, 32, 64)) == 1.0).all())


def test_its_input_is_the_one_in_use() -> None:
    rng = np.random.default_rng(0)
    aligned, unit = rng.uniform(0.1, 2.0, (2, 32, 64)).astype(np.float32)
    s = predictor("dpt_large").standardisation(150)
    got = network_input(torch.from_numpy(aligned)[None], torch.from_numpy(unit)[None], s)
    assert got.dtype == torch.float32
    np.testing.assert_allclose(got.numpy(), refinement.network_input(aligned, unit, s), rtol=1e-6, atol=1e-6)


def test_it_is_the_share_by_which_inverse_depth_is_off() -> None:
    truth = torch.full((2, 8, 8), 0.5)
    truth[1] = 0.05  # a street counts as much as a room
    truth[:, :2] = 0.0
    aligned = torch.where(truth > 0, truth, 7.0)
    scale = torch.full((2, 1, 8, 8), 1.2)
    torch.testing.assert_close(learner_loss(scale, aligned, truth), torch.full((2,), 0.2))
    assert bool((learner_loss(torch.ones(2, 1, 8, 8), aligned, truth) == 0.0).all())
    assert bool((learner_loss(scale, aligned, torch.zeros(2, 8, 8)) == 0.0).all())


def test_edges_cost_by_their_weight() -> None:
    truth = torch.ones(1, 8, 8)
    scale = torch.where(torch.arange(8) < 4, 0.9, 1.1).expand(1, 1, 8, 8)
    plain, whole = (float(learner_loss(scale, torch.ones(1, 8, 8), truth, weight)) for weight in (0.0, 0.5))
    assert plain == pytest.approx(0.1, rel=1e-5)
    assert whole > plain + 0.01


def test_a_wrong_scale_is_pulled_back_even_beyond_the_limits() -> None:
    scale = torch.full((1, 1, 8, 8), 50.0, requires_grad=True)
    learner_loss(scale, torch.ones(1, 8, 8), torch.ones(1, 8, 8)).sum().backward()  # type: ignore[no-untyped-call]
    assert scale.grad is not None
    assert bool((scale.grad > 0).all())
