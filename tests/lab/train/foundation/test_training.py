"""The recipe itself: what a batch is, what the loss sees, and that it learns."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from mrac.gpu.network import DepthNetwork
from mrac.lab.train.foundation.losses import log_target, shift_invariant_l1
from mrac.lab.train.foundation.recipe import FoundationOptions, Phase, Weights
from mrac.lab.train.foundation.training import CANONICAL_FOCAL, FoundationTraining, frame_odds, rate_at, upsample
from mrac.lab.train.foundation.views import ViewOptions, Views
from tests.lab.train import tiny


def test_the_loss_on_the_training_frames_falls_by_half() -> None:
    options = tiny.narrow(40, encoder_rate=1e-3, decoder_rate=4e-3, warmup=5, colour=0.0, hide=0.0)
    options = replace(options, views=ViewOptions(plain=1.0), network=replace(options.network, drop=0.0))
    training = FoundationTraining(options, [tiny.frames(4)], None)
    frames = training.sets[0]
    target, known = log_target(frames.z_m)

    def loss_on_frames() -> float:
        # With the statistics of the batch: the running ones need hundreds of steps.
        training.network.train()
        with torch.no_grad():
            predicted = upsample(training.network(frames.images.float()), frames.z_m.shape[1:])
        return float(shift_invariant_l1(predicted - target, known).mean())

    before = loss_on_frames()
    while training.step < options.num_steps:
        assert bool(training.advance().isfinite())
    after = loss_on_frames()
    assert after < 0.5 * before, (before, after)


def test_every_step_draws_from_its_own_seed() -> None:
    training = FoundationTraining(tiny.narrow(), [tiny.frames()], None)
    first, again = training.batch(training.step), training.batch(training.step)
    training.step = 1
    other = training.batch(training.step)
    assert torch.equal(first.image, again.image)
    assert torch.equal(first.z_m, again.z_m)
    assert not torch.equal(first.image, other.image)
    reseeded = FoundationTraining(tiny.narrow(seed=1), [tiny.frames()], None).batch(0)
    assert not torch.equal(first.image, reseeded.image)


def test_two_runs_are_one() -> None:
    runs = [FoundationTraining(tiny.narrow(), [tiny.frames()], None) for _ in range(2)]
    for _ in range(3):
        losses = [run.advance() for run in runs]
        assert torch.equal(*losses)
        torch.rand(1)  # what others draw meanwhile is of no matter
    first, second = (run.network.state_dict() for run in runs)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_shares_and_shapes_are_kept() -> None:
    shapes = (((32, 64), 0.75), ((64, 32), 0.25))
    options = tiny.narrow(phases=(Phase(100, 20, shapes),), shares={"a": 0.8, "b": 0.2}, views=ViewOptions(plain=1.0))
    near, far = tiny.frames(4, "a"), tiny.frames(2, "b")
    far.z_m[:] = 100.0
    training = FoundationTraining(options, [near, far], None)
    wide, num_far = 0, 0
    for step in range(60):
        training.step = step
        views = training.batch(training.step)
        assert views.image.shape[0] == views.z_m.shape[0] == views.focal.shape[0] == 20
        wide += views.z_m.shape[1:] == (32, 64)
        num_far += int((views.z_m.amax(dim=(1, 2)) > 50).sum())
    assert wide / 60 == pytest.approx(0.75, abs=0.2)
    assert num_far / (60 * 20) == pytest.approx(0.2, abs=0.05)


def test_sets_without_a_share_come_by_their_size() -> None:
    options = tiny.narrow(phases=(Phase(100, 20, ((tiny.SIZE, 1.0),)),))
    small, large = tiny.frames(1, "x"), tiny.frames(3, "y")
    small.z_m[:] = 100.0
    training = FoundationTraining(options, [small, large], None)
    num = 0
    for step in range(20):
        training.step = step
        num += int((training.batch(training.step).z_m.amax(dim=(1, 2)) > 50).sum())
    assert num / 400 == pytest.approx(0.25, abs=0.08)


def test_ten_frames_of_one_scene_count_as_the_root_of_ten() -> None:
    frames = replace(tiny.frames(12), scenes=("hall",) * 10 + ("attic", "cellar"))
    odds = frame_odds(frames)
    torch.testing.assert_close(odds[10:], torch.ones(2))
    torch.testing.assert_close(odds[:10].sum(), torch.tensor(10**0.5))
    torch.testing.assert_close(odds[:10], odds[:1].expand(10))


def test_a_batch_is_drawn_by_these_odds() -> None:
    options = tiny.narrow(phases=(Phase(100, 20, (((32, 32), 1.0),)),), paste=0.0)
    frames = replace(tiny.frames(10, size=(32, 32)), scenes=("hall",) * 9 + ("attic",))
    frames.z_m[:9] = 100.0
    training = FoundationTraining(options, [frames], None)
    num = 0
    for step in range(40):
        training.step = step
        num += int((training.batch(training.step).z_m.amax(dim=(1, 2)) > 50).sum())
    # Three to one; one frame as often as any other would be nine to one.
    assert num / 800 == pytest.approx(0.75, abs=0.05)


def test_a_share_of_a_batch_has_something_pasted_before_it() -> None:
    phases = (Phase(100, 16, ((tiny.SIZE, 1.0),)),)
    sets = [tiny.frames(8)]
    plain, pasted = (FoundationTraining(tiny.narrow(phases=phases, paste=p), sets, None).batch(0) for p in (0.0, 1.0))
    nearer = (pasted.z_m < plain.z_m) | (plain.z_m == 0) & (pasted.z_m > 0)
    assert bool(nearer.any())
    torch.testing.assert_close(pasted.z_m[~nearer], plain.z_m[~nearer], rtol=0, atol=0)


def test_phases_follow_one_another() -> None:
    first, second = (Phase(n, 2, ((tiny.SIZE, 1.0),)) for n in (3, 5))
    options = FoundationOptions(phases=(first, second))
    assert options.num_steps == 8
    assert [options.phase(step) for step in range(9)] == [first] * 3 + [second] * 6


def test_the_rate_rises_then_falls_to_nothing() -> None:
    rates = [rate_at(step, 100, 10) for step in range(101)]
    assert rates[:10] == pytest.approx([(n + 1) / 10 for n in range(10)])
    assert rates[10] == max(rates) == 1.0
    assert rates[55] == pytest.approx(0.5)
    assert rates[100] == pytest.approx(0.0)
    assert all(a >= b for a, b in pairwise(rates[10:]))
    assert rate_at(0, 5, 0) == 1.0
    assert rate_at(9, 10, 10) == 1.0


def test_a_longer_lens_shows_the_same_scene_from_farther_away() -> None:
    """The target is z over focal length: zooming in by two halves what the same picture means in metres."""
    options = tiny.narrow(weights=Weights(shift=0.0, affine=0.0, gradient=0.0, metric=1.0))
    training = FoundationTraining(options, [tiny.frames()], None)
    z_m = torch.full((2, *tiny.SIZE), 4.0)
    image = torch.zeros(2, 3, *tiny.SIZE)
    views = Views(image, z_m, torch.tensor([CANONICAL_FOCAL, 2 * CANONICAL_FOCAL]))
    exact = torch.tensor([4.0, 2.0]).log()[:, None, None].expand_as(z_m)
    assert float(training.loss(exact, views)) == pytest.approx(0.0, abs=1e-6)
    assert float(training.loss(exact + 0.3, views)) == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize("name", ["shift", "affine", "gradient", "metric"])
def test_the_loss_is_the_weighted_sum(name: str) -> None:
    none = {"shift": 0.0, "affine": 0.0, "gradient": 0.0, "metric": 0.0}
    frames = tiny.frames()
    training = FoundationTraining(tiny.narrow(), [frames], None)
    views = Views(frames.images.float(), frames.z_m, torch.full((4,), 0.9))
    predicted = torch.rand(4, *tiny.SIZE)
    losses = []
    for factor in (1.0, 3.0):
        training.options = replace(training.options, weights=Weights(**{**none, name: factor}))
        losses.append(float(training.loss(predicted, views)))
    assert losses[1] == pytest.approx(3 * losses[0], rel=1e-5)
    assert losses[0] > 0


def test_frames_without_a_reading_do_no_harm() -> None:
    frames = tiny.frames()
    frames.z_m[:] = 0
    training = FoundationTraining(tiny.narrow(), [frames], None)
    assert float(training.advance()) == 0.0
    assert all(bool(parameter.isfinite().all()) for parameter in training.network.parameters())


def test_the_average_follows_the_network() -> None:
    training = FoundationTraining(tiny.narrow(10), [tiny.frames()], None)

    def bias(network: DepthNetwork) -> float:
        return float(network.state_dict()["out.bias"])

    began = bias(training.averaged)
    for _ in range(4):
        training.advance()
    assert bias(training.averaged) == began, "averaged every fifth step"
    training.advance()
    assert 0 < abs(bias(training.averaged) - began) <= abs(bias(training.network) - began)
    assert not training.averaged.training
    assert not any(parameter.requires_grad for parameter in training.averaged.parameters())
