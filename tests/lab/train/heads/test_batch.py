"""Minibatches: anchors where there is truth, mirrored with their image, dropped as asked; every frame equally often."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.head._rendering import Form
from mrac.lab.train.heads.batch import Draw, Minibatch, draw_anchors, draw_batch, epoch_batches, num_steps
from mrac.lab.train.heads.data import HeadFrames
from mrac.lab.train.heads.residual_network import anchor_channel, correction_unit
from tests.lab.train import tiny_heads


def drawn(frames: HeadFrames, draw: Draw, seed: int = 0) -> Minibatch:
    return draw_batch(frames, torch.arange(len(frames)), draw, torch.Generator().manual_seed(seed))


def sparse(num: int = 4) -> HeadFrames:
    """Truth at every third pixel, and in one frame at three pixels only."""
    frames = tiny_heads.frames(num)
    z_m = frames.frames.z_m
    z_m[:, :, 1:] *= (torch.arange(z_m.shape[2] - 1) % 3 == 0).float()
    z_m[0] = 0.0
    z_m[0, 4, [3, 9, 20]] = torch.tensor([1.0, 2.0, 3.0])
    return frames


@pytest.mark.parametrize("num", [2, 5, 50])
def test_anchors_are_readings_of_the_truth(num: int) -> None:
    batch = drawn(sparse(), Draw(num))
    assert batch.mask.sum(dim=(1, 2)).tolist() == [min(num, 3), num, num, num]
    at = batch.mask > 0
    assert bool((batch.z_m[at] > 0).all())
    assert torch.equal(batch.anchor[at], batch.z_m[at])
    assert bool((batch.anchor[~at] == 0).all())


@pytest.mark.parametrize("form", ["metres", "scale_free"])
@pytest.mark.parametrize("space", ["depth", "log_depth", "inverse_depth"])
def test_what_the_network_is_told_is_what_whole_maps_would_give(form: Form, space: str) -> None:
    batch = drawn(tiny_heads.frames(), Draw(20, 0.4, space, form))  # type: ignore[arg-type]
    line = batch.line(space)  # type: ignore[arg-type]
    z = torch.where(batch.mask > 0, batch.z_m, torch.nan)
    torch.testing.assert_close(batch.anchor, anchor_channel(line, batch.x, z, batch.mask, form))
    unit = correction_unit(z, batch.mask, space, form)  # type: ignore[arg-type]
    torch.testing.assert_close(batch.unit, unit)


def test_half_of_the_frames_are_mirrored_as_a_whole() -> None:
    frames = tiny_heads.frames(60)
    batch = drawn(frames, Draw(5))
    plain = [batch.image, batch.x, batch.normal, batch.z_m]
    own = [frames.frames.images, frames.x, frames.normal, frames.frames.z_m]
    mirrored = [not torch.equal(batch.image[i], own[0][i]) for i in range(60)]
    assert 15 < sum(mirrored) < 45
    for i, flipped in enumerate(mirrored):
        for got, had in zip(plain, own, strict=True):
            assert torch.equal(got[i], had[i].flip(-1) if flipped else had[i])
    assert torch.equal(drawn(frames, Draw(5, mirror=False)).image, own[0])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), num=st.sampled_from([2, 3, 5, 50]), rate=st.sampled_from([0.0, 0.4, 1.0]))
def test_at_least_two_anchors_stay(seed: int, num: int, rate: float) -> None:
    z = sparse(3).frames.z_m
    pixel, kept = draw_anchors(z, Draw(num, rate), torch.Generator().manual_seed(seed))
    assert bool((kept.sum(dim=1) >= 2).all())
    assert bool((kept.sum(dim=1) <= min(num, 50)).all())
    assert bool((z.flatten(1).gather(1, pixel)[kept] > 0).all())
    assert all(len(set(row.tolist())) == len(row) for row in pixel)


def test_up_to_the_given_share_is_dropped() -> None:
    z = torch.ones(400, 20, 20)
    _, kept = draw_anchors(z, Draw(100, 0.4), torch.Generator().manual_seed(0))
    dropped = 1.0 - kept.float().mean(dim=1)
    assert float(dropped.mean()) == pytest.approx(0.2, abs=0.02)
    assert 0.35 < float(dropped.max()) <= 0.4
    assert float(dropped.min()) < 0.03


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), num=st.sampled_from([2, 5, 10, 25, 50]), rate=st.sampled_from([0.1, 0.4]))
def test_never_more_than_the_given_share_is_dropped(seed: int, num: int, rate: float) -> None:
    """The paper's dropout_rate_max is a limit, not the limit of a mean."""
    z = torch.ones(50, 12, 12)
    z[0] = 0.0
    z[0, 3, [2, 5, 7, 9]] = 1.0  # a frame with fewer readings than are asked for: the share is of those it has
    _, kept = draw_anchors(z, Draw(num, rate), torch.Generator().manual_seed(seed))
    had = torch.tensor([min(num, 4), *[num] * 49])
    assert bool((had - kept.sum(dim=1) <= rate * had).all())


def test_the_line_is_that_of_the_anchors_that_stay() -> None:
    """Fitted on all of them, what is dropped would still be felt."""
    frames = tiny_heads.frames()
    batch = drawn(frames, Draw(20, 0.4, mirror=False))
    for i in range(len(frames)):
        at = batch.mask[i] > 0
        slope, level = np.polyfit(batch.x[i][at].numpy(), batch.z_m[i][at].numpy(), 1)
        assert float(batch.scale[i]) == pytest.approx(slope, rel=1e-4)
        assert float(batch.shift[i]) == pytest.approx(level, rel=1e-3, abs=1e-4)


def test_a_draw_is_its_seed() -> None:
    frames = tiny_heads.frames()
    one, same, other = (drawn(frames, Draw(5, 0.4), seed) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one.mask, other.mask)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    batch=st.integers(1, 13),
    num_epochs=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_every_frame_comes_once_an_epoch(sizes: list[int], batch: int, num_epochs: int, seed: int) -> None:
    epochs = [epoch_batches(sizes, batch, epoch, seed) for epoch in range(num_epochs)]
    assert all(epochs) or max(sizes) < batch, "an epoch without a step"
    assert sum(map(len, epochs)) == num_steps(sizes, batch, num_epochs)
    for which, size in enumerate(sizes):
        seen = Counter(int(i) for epoch in epochs for s, frames in epoch if s == which for i in frames)
        assert all(len(frames) == batch for epoch in epochs for _, frames in epoch)
        # The last minibatch is filled from the next deal, or from several where a set is smaller than it.
        assert set(seen) == set(range(size))
        assert min(seen.values()) >= num_epochs
        assert max(seen.values()) <= num_epochs + -(-batch // size)


def test_epochs_are_shuffled_and_repeatable() -> None:
    first, again, second, other = (epoch_batches([40], 4, e, s) for e, s in ((0, 0), (0, 0), (1, 0), (0, 1)))
    flat = [np.concatenate([frames for _, frames in epoch]).tolist() for epoch in (first, again, second, other)]
    assert flat[0] == flat[1]
    assert flat[0] != flat[2]
    assert flat[0] != flat[3]
    assert sorted(flat[0]) == sorted(flat[2]) == list(range(40))
