"""Depth in training is the depth of the head: else trust would be learned for another one."""

import numpy as np
import torch

from mrac.conventions import FloatArray
from mrac.gp.kernel import NUM_FEATURES
from mrac.gp.posterior import Observations, posterior, predict
from mrac.head.kriging import Kriging
from mrac.lab.train.gate.depth_loss import DepthLoss, Target

K, M = 40, 30


def as_the_head_has_it(target: Target, trust: FloatArray) -> FloatArray:
    """(M,) log depth around a trend of slope one whose shift is the readings' own, weighted."""
    head = Kriging()
    noise_var = (head.noise**2 + head.soft_noise * (1.0 - trust)) / trust
    error = (target.log_z - target.x).astype(np.float64)
    shift = float(np.average(error, weights=trust))
    post, _ = posterior(Observations(target.features, noise_var, error - shift))
    mean, explained = np.empty((2, M), np.float32)
    predict(np.ascontiguousarray(target.at.T), 0, M, post, mean, explained)
    return np.asarray(target.at_x + shift + mean)


def target(seed: int, num: int = K) -> Target:
    rng = np.random.default_rng(seed)
    features, at = (rng.random((n, NUM_FEATURES)).astype(np.float32) for n in (num, M))
    x, at_x = (rng.normal(0.0, 0.3, n).astype(np.float32) for n in (num, M))
    log_z = x + 1.0 + 0.2 * np.sin(4.0 * features[:, 0]) + 0.02 * rng.normal(size=num)
    return Target(features, x, log_z.astype(np.float32), at, at_x, np.zeros(M, np.float32))


def test_depth_is_that_of_the_head() -> None:
    rng = np.random.default_rng(5)
    for seed in range(5):
        made, doubted = target(seed), rng.random(K) < 0.3
        trust = np.where(doubted, 0.01, 0.95)
        made = made._replace(log_z=np.where(doubted, made.log_z - np.float32(0.5), made.log_z))
        made = made._replace(log_truth=as_the_head_has_it(made, trust).astype(np.float32))
        error = DepthLoss([made], Kriging()).abs_rel(torch.from_numpy(trust[None].astype(np.float32)))
        assert float(error) < 0.02
        assert float(DepthLoss([made], Kriging()).abs_rel(torch.ones(1, K))) > 0.05


def test_scenes_of_any_size_do_not_disturb_each_other() -> None:
    scenes = [target(0), target(1, 7), target(2, 23)]
    together = DepthLoss(scenes, Kriging()).abs_rel(torch.full((3, K), 0.8))
    alone = [DepthLoss([scene], Kriging()).abs_rel(torch.full((1, scene.x.size), 0.8)) for scene in scenes]
    np.testing.assert_allclose(together.numpy(), torch.cat(alone).numpy(), rtol=1e-3)


def test_a_wrong_reading_asks_for_less_trust() -> None:
    made = target(3)
    truth = as_the_head_has_it(made, np.ones(K)).astype(np.float32)
    log_z = made.log_z.copy()
    log_z[4] -= 0.7
    odds = torch.zeros(1, K, requires_grad=True)
    error = DepthLoss([made._replace(log_z=log_z, log_truth=truth)], Kriging()).abs_rel(torch.sigmoid(odds))
    error.sum().backward()  # type: ignore[no-untyped-call]
    assert odds.grad is not None
    assert int(odds.grad[0].argmax()) == 4
    assert float(odds.grad[0, 4]) > 0.0
