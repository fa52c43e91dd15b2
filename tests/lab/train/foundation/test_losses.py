"""What each loss must not see, and what it must."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from mrac.lab.train.foundation.losses import (
    affine_invariant_l1,
    gradient_l1,
    local_l1,
    log_target,
    metric_l1,
    shift_invariant_l1,
)

SEEDS = st.integers(0, 2**32 - 1)
SHARES = st.sampled_from([0.0, 0.02, 0.3, 0.9, 1.0])
SIZES = st.tuples(st.integers(8, 33), st.integers(8, 33))
LOSSES = ("metric", "shift", "local", "affine", "gradient")


def losses(predicted: Tensor, target: Tensor, known: Tensor) -> dict[str, Tensor]:
    error = predicted - target
    return {
        "metric": metric_l1(error, known),
        "shift": shift_invariant_l1(error, known),
        "local": local_l1(error, known, 1),
        "affine": affine_invariant_l1(predicted, target, known),
        "gradient": gradient_l1(error, known),
    }


def scene(seed: int, size: tuple[int, int], share: float, num: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    """(B, H, W) predictions, true log depths, and which of them are known."""
    rng = np.random.default_rng(seed)
    predicted, target = rng.normal(1, 1, (2, num, *size))
    known = rng.random((num, *size)) < share
    return torch.from_numpy(predicted), torch.from_numpy(target), torch.from_numpy(known).double()


def brute_gradient(error: NDArray[np.float64], known: NDArray[np.bool_], num_scales: int) -> float:
    """Pixel by pixel: the mean step between neighbours that are both known, summed over axes and scales."""
    total = 0.0
    for _ in range(num_scales):
        H, W = error.shape
        for down, right in ((1, 0), (0, 1)):
            steps = [
                abs(error[v + down, u + right] - error[v, u])
                for v in range(H - down)
                for u in range(W - right)
                if known[v, u] and known[v + down, u + right]
            ]
            total += float(np.mean(steps)) if steps else 0.0
        h, w = H // 2, W // 2
        coarse, any_known = np.zeros((h, w)), np.zeros((h, w), dtype=bool)
        for v in range(h):
            for u in range(w):
                cell = np.s_[2 * v : 2 * v + 2, 2 * u : 2 * u + 2]
                any_known[v, u] = known[cell].any()
                coarse[v, u] = error[cell][known[cell]].mean() if any_known[v, u] else 0.0
        error, known = coarse, any_known
    return total


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES, shift=st.floats(-20, 20))
def test_a_shift_costs_nothing_but_metres(seed: int, size: tuple[int, int], share: float, shift: float) -> None:
    predicted, target, known = scene(seed, size, share)
    before, after = losses(predicted, target, known), losses(predicted + shift, target, known)
    for name in ("shift", "local", "affine", "gradient"):
        torch.testing.assert_close(after[name], before[name], atol=1e-9, rtol=1e-7)
    exact = losses(target + shift, target, known)["metric"]
    torch.testing.assert_close(exact, abs(shift) * (known.sum(dim=(1, 2)) > 0).double(), atol=1e-9, rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, size=SIZES, share=st.sampled_from([0.3, 1.0]), slope=st.floats(0.5, 50), shift=st.floats(-9, 9))
def test_the_affine_loss_sees_no_line(
    seed: int, size: tuple[int, int], share: float, slope: float, shift: float
) -> None:
    predicted, target, known = scene(seed, size, share)
    before = affine_invariant_l1(predicted, target, known)
    after = affine_invariant_l1(slope * predicted + shift, target, known)
    # The term that keeps a flat prediction's gradient finite weighs 0.001 beside the prediction's variance.
    torch.testing.assert_close(after, before, atol=0.02, rtol=0)
    assert bool((affine_invariant_l1(slope * target + shift, target, known) < 0.02).all())


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, size=SIZES)
def test_the_affine_loss_is_that_of_the_least_squares_line(seed: int, size: tuple[int, int]) -> None:
    predicted, target, known = scene(seed, size, 0.5, num=1)
    given_loss = float(affine_invariant_l1(100 * predicted, target, known))
    p, t = (x[known > 0].numpy() for x in (predicted, target))
    line = np.polynomial.Polynomial.fit(p, t, 1)
    assert given_loss == pytest.approx(np.abs(line(p) - t).mean(), rel=1e-4)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES)
def test_a_perfect_prediction_costs_nothing(seed: int, size: tuple[int, int], share: float) -> None:
    _, target, known = scene(seed, size, share)
    for name, loss in losses(target, target, known).items():
        assert bool((loss <= (2e-2 if name == "affine" else 1e-12)).all()), name


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES, junk=st.sampled_from([0.0, 1e6, -1e6]))
def test_unknown_pixels_never_count(seed: int, size: tuple[int, int], share: float, junk: float) -> None:
    predicted, target, known = scene(seed, size, share)
    before = losses(predicted, target, known)
    after = losses(torch.where(known > 0, predicted, junk), torch.where(known > 0, target, -junk / 2), known)
    for name in LOSSES:
        torch.testing.assert_close(after[name], before[name], atol=1e-12, rtol=1e-12, msg=name)


@pytest.mark.parametrize("name", LOSSES)
def test_an_image_without_truth_costs_nothing_and_pulls_nowhere(name: str) -> None:
    predicted, target, known = scene(0, (16, 24), 0.5)
    known[1] = 0
    predicted.requires_grad_()
    loss = losses(predicted, target, known)[name]
    assert float(loss[1].detach()) == 0.0
    loss.sum().backward()  # type: ignore[no-untyped-call]
    assert predicted.grad is not None
    assert bool(predicted.grad.isfinite().all())
    assert not bool(predicted.grad[1].any())
    assert bool(predicted.grad[0].any())
    assert not bool(predicted.grad[known == 0].any())


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_flat_prediction_has_a_finite_gradient(name: str, level: float) -> None:
    _, target, known = scene(0, (16, 24), 0.5)
    flat = torch.full_like(target, level).requires_grad_()
    losses(flat.float(), target.float(), known.float())[name].sum().backward()  # type: ignore[no-untyped-call]
    assert flat.grad is not None
    assert bool(flat.grad.isfinite().all())
    assert bool(flat.grad.any()) == (name != "affine"), "a flat one has no slope; the other losses give it one"


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES, num_scales=st.integers(1, 4))
def test_gradients_against_a_loop(seed: int, size: tuple[int, int], share: float, num_scales: int) -> None:
    predicted, target, known = scene(seed, size, share, num=2)
    error = predicted - target
    expected = [brute_gradient(e.numpy(), k.numpy() > 0, num_scales) for e, k in zip(error, known, strict=True)]
    np.testing.assert_allclose(gradient_l1(error, known, num_scales).numpy(), expected, rtol=1e-5, atol=1e-7)


def test_what_was_not_measured_is_unknown() -> None:
    z = torch.tensor([[[0.0, -1.0, float("nan"), float("inf"), 1.0, 2.0]]])
    target, known = log_target(z)
    assert known.tolist() == [[[0, 0, 0, 0, 1, 1]]]
    torch.testing.assert_close(target[0, 0], torch.tensor([0.0, 0, 0, 0, 0, float(np.log(2))]))


def test_a_level_of_its_own_in_every_tile_is_seen_by_no_local_loss() -> None:
    levels = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 3, 4)))
    error = levels.repeat_interleave(8, dim=1).repeat_interleave(8, dim=2)
    known = torch.ones_like(error)
    assert float(local_l1(error, known, 12).max()) < 1e-12
    assert float(shift_invariant_l1(error, known).min()) > 0.1
    assert float(local_l1(error, known, 1).min()) > 0.1


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, share=SHARES)
def test_the_local_loss_against_a_loop_over_tiles(seed: int, share: float) -> None:
    predicted, target, known = scene(seed, (26, 33), share, num=2)  # 12 tiles: 3 × 4 of 8 × 8, the rest is cut off
    expected = []
    for error, there in zip((predicted - target).numpy(), known.numpy() > 0, strict=True):
        tiles = [np.s_[8 * v : 8 * v + 8, 8 * u : 8 * u + 8] for v in range(3) for u in range(4)]
        levels = [error[tile][there[tile]] for tile in tiles if there[tile].any()]
        off = [np.abs(values - values.mean()) for values in levels]
        expected.append(np.concatenate(off).mean() if off else 0.0)
    np.testing.assert_allclose(local_l1(predicted - target, known, 12).numpy(), expected, rtol=1e-9, atol=1e-12)
