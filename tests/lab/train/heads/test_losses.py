"""Each loss against a slow one written from its definition; what it must not see; finite gradients everywhere."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from mrac.lab.train.foundation.losses import gradient_l1
from mrac.lab.train.heads.losses import cwa, edge_aware_smoothness, fmp, frozen_encoder, residual, silog, ssc

SEEDS = st.integers(0, 2**32 - 1)
SHARES = st.sampled_from([0.0, 0.02, 0.3, 0.9, 1.0])
SIZES = st.tuples(st.integers(8, 40), st.integers(8, 40))
Array = NDArray[np.float64]
Scene = dict[str, Tensor]


def scene(seed: int, size: tuple[int, int], share: float, num: int = 2) -> Scene:
    """Predicted, true and fitted log depth, log-variance, known pixels, anchors and an image, in double precision."""
    rng = np.random.default_rng(seed)
    predicted, target, line, log_variance = rng.normal(1, 1, (4, num, *size))
    known = rng.random((num, *size)) < share
    anchor = rng.random((num, *size)) < 0.05
    image = rng.uniform(0, 255, (num, 3, *size))
    given_maps = {"predicted": predicted, "target": target, "line": line, "log_variance": log_variance}
    arrays = given_maps | {"known": known, "anchor": anchor, "image": image}
    return {name: torch.from_numpy(array).double() for name, array in arrays.items()}


def edges(image: Tensor) -> list[Tensor]:
    """Two maps from fixed filters: an encoder that takes no time to load."""
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randn(6, 3, 4, 4, generator=generator), torch.randn(8, 6, 2, 2, generator=generator)
    fine = functional.relu(functional.conv2d(image, first, stride=4))
    return [fine, functional.conv2d(fine, second, stride=2)]


def loss_of(name: str, s: Scene) -> Tensor:
    error = s["predicted"] - s["target"]
    calls: dict[str, Callable[[], Tensor]] = {
        "silog": lambda: silog(error, s["known"]),
        "cwa": lambda: cwa(error, s["log_variance"], s["known"], s["anchor"]),
        "ssc": lambda: ssc(s["predicted"], s["target"], s["line"], s["known"], s["image"]),
        "ssc_raw": lambda: ssc(s["predicted"], s["target"], None, s["known"], s["image"]),
        "fmp": lambda: fmp(s["predicted"], s["target"], s["known"], edges),
    }
    return calls[name]()


LOSSES = ("silog", "cwa", "ssc", "ssc_raw", "fmp")
OF_TRUTH_ALONE = ("silog", "cwa", "ssc_raw", "fmp")  # ssc's smoothness counts where there is no truth, and should


def pixels(s: Scene, i: int) -> list[tuple[float, float, bool]]:
    """(error, log-variance, whether an anchor) of each known pixel of image i."""
    error = s["predicted"] - s["target"]
    return [
        (float(error[i, v, u]), float(s["log_variance"][i, v, u]), bool(s["anchor"][i, v, u]))
        for v, u in s["known"][i].nonzero().tolist()
    ]


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES, focus=st.floats(0, 1))
def test_silog_is_eigens(seed: int, size: tuple[int, int], share: float, focus: float) -> None:
    s = scene(seed, size, share)
    result = silog(s["predicted"] - s["target"], s["known"], focus)
    for i in range(2):
        errors = [e for e, _, _ in pixels(s, i)]
        n = len(errors)
        expected = sum(e * e for e in errors) / n - focus * sum(errors) ** 2 / n**2 if n else 0.0
        assert float(result[i]) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES, anchor_share=st.sampled_from([0.0, 0.1, 0.5]))
def test_cwa_is_the_likelihood_of_a_laplace(
    seed: int, size: tuple[int, int], share: float, anchor_share: float
) -> None:
    s = scene(seed, size, share)
    result = cwa(s["predicted"] - s["target"], s["log_variance"], s["known"], s["anchor"], anchor_share)
    for i in range(2):
        costs, at_anchors = [], []
        for e, log_variance, is_anchor in pixels(s, i):
            b = math.sqrt((math.exp(log_variance) + 0.01**2) / 2)  # the Laplace scale whose variance that is
            cost = -math.log(math.exp(-abs(e) / b) / (2 * b)) - math.log(math.sqrt(2.0))
            costs.append(cost)
            at_anchors += [cost] if is_anchor else []
        everywhere, there = (float(np.mean(some or [0.0])) for some in (costs, at_anchors))
        expected = (1 - anchor_share) * everywhere + anchor_share * there if at_anchors else everywhere
        assert float(result[i]) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, spread=st.floats(0.02, 3.0))
def test_cwa_is_least_where_the_variance_is_that_of_the_error(seed: int, spread: float) -> None:
    error = torch.from_numpy(np.random.default_rng(seed).laplace(0, spread, (1, 20, 20)))
    known, none = torch.ones_like(error), torch.zeros_like(error)
    best_sigma = math.sqrt(2.0) * float(error.abs().mean())
    best = 2 * math.log(best_sigma) + math.log1p(-((0.01 / best_sigma) ** 2))
    costs = [float(cwa(error, torch.full_like(error, best + off), known, none)) for off in (0.0, -0.1, 0.1, -3.0, 3.0)]
    assert min(costs) == costs[0]


def test_cwa_weighs_anchors_the_same_however_many() -> None:
    """An error at the anchors alone costs a tenth of the same error everywhere, at K = 5 and at K = 1000."""
    zero, one = torch.zeros(1, 60, 80), torch.ones(1, 60, 80)
    floor = cwa(zero, zero, one, zero)
    everywhere = cwa(one, zero, one, zero) - floor
    for num in (5, 50, 1000):
        anchor = zero.clone().flatten(1)
        anchor[:, torch.randperm(4800, generator=torch.Generator().manual_seed(num))[:num]] = 1
        anchor = anchor.view_as(zero)
        cost = cwa(anchor, zero, one, anchor) - floor
        # The anchors are pixels as well: their own number comes on top.
        assert float(cost / everywhere) == pytest.approx(0.1 + 0.9 * num / 4800, rel=1e-4)


def brute_smoothness(field: Array, image: Array, sharpness: float) -> float:
    total = 0.0
    H, W = field.shape
    for down, right in ((1, 0), (0, 1)):
        costs = [
            abs(field[v + down, u + right] - field[v, u])
            * math.exp(-sharpness * np.abs(image[:, v + down, u + right] - image[:, v, u]).mean() / 255)
            for v in range(H - down)
            for u in range(W - right)
        ]
        total += float(np.mean(costs)) if costs else 0.0
    return total


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, size=st.tuples(st.integers(1, 12), st.integers(1, 12)), sharpness=st.floats(0, 20))
def test_smoothness_against_a_loop(seed: int, size: tuple[int, int], sharpness: float) -> None:
    s = scene(seed, size, 1.0)
    result = edge_aware_smoothness(s["predicted"], s["image"], sharpness)
    pairs = zip(s["predicted"], s["image"], strict=True)
    expected = [brute_smoothness(f.numpy(), i.numpy(), sharpness) for f, i in pairs]
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES, weight=st.floats(0, 2))
def test_ssc_is_gradients_and_smoothness(seed: int, size: tuple[int, int], share: float, weight: float) -> None:
    """`gradient_l1` has a loop of its own to answer to, in `test_losses`."""
    s = scene(seed, size, share)
    result = ssc(s["predicted"], s["target"], s["line"], s["known"], s["image"], weight)
    for i in range(2):
        smooth = brute_smoothness((s["predicted"] - s["line"])[i].numpy(), s["image"][i].numpy(), 10.0)
        matched = float(gradient_l1((s["predicted"] - s["target"])[i : i + 1], s["known"][i : i + 1]))
        assert float(result[i]) == pytest.approx(matched + weight * smooth, rel=1e-6, abs=1e-9)


def brute_picture(log_z: Array, known: NDArray[np.bool_]) -> Tensor:
    H, W = log_z.shape
    picture = np.zeros((-(-H // 32) * 32, -(-W // 32) * 32))
    if known.any():
        values = log_z[known]
        normal = (log_z - values.mean()) / np.sqrt(values.var() + 1e-6)
        picture[:H, :W] = np.where(known, np.clip(normal / 3, -1, 1), 0)
    return torch.from_numpy(np.stack([picture] * 3))[None].float()


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES)
def test_fmp_against_a_loop(seed: int, size: tuple[int, int], share: float) -> None:
    s = scene(seed, size, share)
    result = fmp(s["predicted"], s["target"], s["known"], edges)
    for i in range(2):
        known = s["known"][i].numpy() > 0
        seen, wanted = (edges(brute_picture(s[name][i].numpy(), known)) for name in ("predicted", "target"))
        means = []
        for own, true, cell in zip(seen, wanted, (4, 8), strict=True):
            distances = []
            for v in range(own.shape[2]):
                for u in range(own.shape[3]):
                    p, t = own[0, :, v, u].numpy(), true[0, :, v, u].numpy()
                    holds = known[v * cell : (v + 1) * cell, u * cell : (u + 1) * cell].any()
                    if holds and t.any():
                        distances.append(1 - p @ t / max(np.linalg.norm(p) * np.linalg.norm(t), 1e-12))
            means.append(float(np.mean(distances)) if distances else 0.0)
        assert float(result[i]) == pytest.approx(np.mean(means), abs=2e-4)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, size=SIZES, share=st.sampled_from([0.3, 1.0]), slope=st.floats(0.5, 20), shift=st.floats(-9, 9))
def test_what_each_loss_does_not_see(
    seed: int, size: tuple[int, int], share: float, slope: float, shift: float
) -> None:
    s = scene(seed, size, share)
    moved = s | {"predicted": s["predicted"] + shift}
    focus = [silog(x["predicted"] - x["target"], x["known"], 1.0) for x in (s, moved)]
    torch.testing.assert_close(focus[1], focus[0], atol=1e-9, rtol=1e-9)
    for name in ("ssc", "ssc_raw"):
        torch.testing.assert_close(loss_of(name, moved), loss_of(name, s), atol=1e-6, rtol=1e-6)
    line = s | {"predicted": slope * s["predicted"] + shift}
    torch.testing.assert_close(loss_of("fmp", line), loss_of("fmp", s), atol=1e-3, rtol=0)
    # The sign of the error is all one to SILog and to CWA.
    mirrored = s | {"predicted": 2 * s["target"] - s["predicted"]}
    for name in ("silog", "cwa"):
        torch.testing.assert_close(loss_of(name, mirrored), loss_of(name, s), atol=1e-9, rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES)
def test_a_perfect_prediction_costs_nothing(seed: int, size: tuple[int, int], share: float) -> None:
    s = scene(seed, size, share)
    s = s | {"predicted": s["target"], "line": s["target"]}
    for name in ("silog", "ssc", "ssc_raw", "fmp"):
        assert bool((loss_of(name, s).abs() <= 1e-5).all()), name
    sure = cwa(s["target"] * 0, s["target"] * 0 - 100, s["known"], s["anchor"])
    torch.testing.assert_close(sure, math.log(0.01) * (s["known"].sum(dim=(1, 2)) > 0).double())


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, size=SIZES, share=SHARES, junk=st.sampled_from([0.0, 1e6, -1e6, math.nan, math.inf]))
def test_unknown_pixels_never_count(seed: int, size: tuple[int, int], share: float, junk: float) -> None:
    s = scene(seed, size, share)
    known = s["known"] > 0
    after = s | {"target": torch.where(known, s["target"], junk)}
    for name in LOSSES:
        torch.testing.assert_close(loss_of(name, after), loss_of(name, s), atol=1e-12, rtol=1e-12, msg=name)
    after = after | {name: torch.where(known, s[name], junk) for name in ("predicted", "log_variance")}
    for name in OF_TRUTH_ALONE:
        torch.testing.assert_close(loss_of(name, after), loss_of(name, s), atol=1e-12, rtol=1e-12, msg=name)


@pytest.mark.parametrize("name", OF_TRUTH_ALONE)
def test_an_image_without_truth_costs_nothing_and_pulls_nowhere(name: str) -> None:
    s = scene(0, (33, 40), 0.5)
    s["known"][1] = 0
    s["predicted"].requires_grad_()
    s["log_variance"].requires_grad_()
    loss = loss_of(name, s)
    assert float(loss[1].detach()) == 0.0
    loss.sum().backward()  # type: ignore[no-untyped-call]
    for leaf in ("predicted", "log_variance") if name == "cwa" else ("predicted",):
        grad = s[leaf].grad
        assert grad is not None
        assert bool(grad.isfinite().all())
        assert bool(grad[0].any())
        assert not bool(grad[s["known"] == 0].any())


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("kind", ["flat", "perfect", "sure", "far"])
def test_gradients_are_finite_in_single_precision(name: str, kind: str) -> None:
    s = {key: value.float() for key, value in scene(0, (40, 48), 0.5).items()}
    s["predicted"] = {"flat": torch.ones_like(s["target"]), "far": s["target"] + 15}.get(kind, s["target"].clone())
    s["log_variance"] = torch.full_like(s["target"], {"sure": -200.0, "far": 200.0}.get(kind, 0.0))
    s["predicted"].requires_grad_()
    s["log_variance"].requires_grad_()
    loss = loss_of(name, s)
    assert loss.shape == (2,)
    assert bool(loss.isfinite().all())
    loss.sum().backward()  # type: ignore[no-untyped-call]
    for leaf in ("predicted", "log_variance"):
        grad = s[leaf].grad
        assert grad is None or bool(grad.isfinite().all())


def test_the_smoothness_pulls_where_there_is_no_truth() -> None:
    s = scene(0, (16, 24), 0.0)
    s["predicted"].requires_grad_()
    loss_of("ssc", s).sum().backward()  # type: ignore[no-untyped-call]
    assert s["predicted"].grad is not None
    assert bool(s["predicted"].grad.any())


def test_the_residual_term_is_the_papers() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, (2, 3, 5, 7))
    expected = np.abs(a).mean(axis=(1, 2)) + np.abs(b).mean(axis=(1, 2))
    np.testing.assert_allclose(residual(torch.from_numpy(a), torch.from_numpy(b)).numpy(), expected)


def test_the_frozen_encoder_tells_structure_and_does_not_learn() -> None:
    ramp = torch.linspace(0, 1, 70)[None, None, :].expand(1, 45, 70)
    box = ramp.clone()
    box[:, 10:30, 20:40] -= 1
    known = torch.ones_like(ramp)
    predicted = box.clone().requires_grad_()
    cost = fmp(predicted, ramp, known)
    assert float(fmp(ramp * 2 + 1, ramp, known)) < 1e-3
    assert float(cost.detach()) > 0.05
    cost.sum().backward()  # type: ignore[no-untyped-call]
    assert predicted.grad is not None
    assert bool(predicted.grad.isfinite().all())
    assert bool(predicted.grad.any())
    encoder = frozen_encoder(predicted.device)
    assert not encoder.training
    assert all(p.grad is None and not p.requires_grad for p in encoder.parameters())
