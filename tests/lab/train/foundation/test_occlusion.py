"""What is pasted from one view into another: nearer, of the right size, and only from views that were measured."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from mrac.lab.train.foundation.occlusion import paste_foregrounds
from mrac.lab.train.foundation.views import Views

NUM, SIZE = 12, (24, 32)


def scenes(num: int = NUM, seed: int = 0) -> Views:
    """Views of one number of colour each: a near box somewhere before a receding ground, taken with various lenses."""
    generator = torch.Generator().manual_seed(seed)
    H, W = SIZE
    z_m = (10.0 / (1.0 + torch.arange(H) / H))[:, None].expand(num, H, W).clone()
    z_m = z_m * (0.5 + torch.rand(num, 1, 1, generator=generator))
    for i, (top, left, near) in enumerate(torch.rand(num, 3, generator=generator).tolist()):
        v, u = int(top * H / 2), int(left * W / 2)
        z_m[i, v : v + H // 2, u : u + W // 2] = 0.7 + near
    colour = torch.arange(num, dtype=torch.float32)[:, None, None, None]
    focal = 0.6 + 0.6 * torch.rand(num, generator=generator)
    return Views(colour.expand(num, 3, H, W).clone(), z_m, focal)


def paste(views: Views, share: float = 1.0, seed: int = 0) -> tuple[Views, Tensor, Tensor]:
    """The views, where something was pasted (B, H, W), and which view stands behind each: the same draw once more."""
    order = torch.randperm(len(views.image), generator=torch.Generator().manual_seed(seed))
    after = paste_foregrounds(views, torch.Generator().manual_seed(seed), share)
    assert after.image.shape == views.image.shape
    assert torch.equal(after.focal, views.focal)
    pasted = (after.image != views.image).any(dim=1)
    assert torch.equal(after.z_m[~pasted], views.z_m[~pasted]), "depth without its picture"
    return after, pasted, order


def seen(views: Views) -> Tensor:
    """(B, H, W) depth over focal length: what a picture shows."""
    return views.z_m / views.focal[:, None, None]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_pasted_is_the_other_view_s_where_it_is_nearer(seed: int) -> None:
    views = scenes()
    after, pasted, order = paste(views, seed=seed)
    assert 0.02 < float(pasted.float().mean()) < 0.6
    assert bool((seen(after)[pasted] < seen(views)[pasted]).all())
    torch.testing.assert_close(seen(after)[pasted], seen(views)[order][pasted])
    assert torch.equal(after.image.movedim(1, 3)[pasted], views.image[order].movedim(1, 3)[pasted])


def test_only_the_near_end_of_a_view_is_its_foreground() -> None:
    views = scenes()
    _, pasted, order = paste(views)
    other = seen(views)[order].log()
    low, high = other.amin(dim=(1, 2), keepdim=True), other.amax(dim=(1, 2), keepdim=True)
    assert float(((other - low) / (high - low))[pasted].max()) < 0.45
    # And all of it that is nearer: no view has a piece of what would stand in its way.
    for i in range(NUM):
        if bool(pasted[i].any()):
            farthest = seen(views)[order[i]][pasted[i]].max()
            covers = (seen(views)[order[i]] <= farthest) & (seen(views)[order[i]] < seen(views)[i])
            assert torch.equal(pasted[i], covers)


def test_the_size_of_a_lens_decides_what_is_nearer() -> None:
    """2 m through the wide lens fill the picture less than 3 m through one three times as long."""
    z_m = torch.full((2, *SIZE), 9.0)
    z_m[0] = 2.0
    z_m[1, 8:16] = 3.0
    views = Views(torch.tensor([0.0, 1.0])[:, None, None, None].expand(2, 3, *SIZE), z_m, torch.tensor([0.5, 1.5]))
    swapped = next(seed for seed in range(20) if torch.randperm(2, generator=torch.Generator().manual_seed(seed))[0])
    after, pasted, _ = paste(views, seed=swapped)
    assert bool(pasted[0, 8:16].all())
    assert float(pasted.float().sum()) == 8 * SIZE[1]
    torch.testing.assert_close(after.z_m[0, 8:16], torch.full((8, SIZE[1]), 1.0))


def test_unknown_stays_unknown_unless_something_covers_it() -> None:
    views = scenes()
    for i in range(NUM):
        views.z_m[i, :, i % 3 :: 3] = 0.0
    after, pasted, order = paste(views)
    unknown = views.z_m == 0
    assert bool((unknown & pasted).any())
    assert bool((unknown & ~pasted).any())
    assert not bool(after.z_m[unknown & ~pasted].any())
    assert bool((after.z_m[pasted] > 0).all())
    assert bool((views.z_m[order][pasted] > 0).all()), "nothing unknown is pasted"


def test_the_sky_can_be_covered_and_covers_nothing() -> None:
    views = scenes()
    views.z_m[::2, :8] = math.inf
    after, pasted, order = paste(views)
    sky = views.z_m.isinf()
    assert bool((sky & pasted).any())
    assert bool(after.z_m[pasted].isfinite().all())
    # Sky is no far end of a view: then all that is not sky would be its foreground.
    other, known = seen(views)[order].log(), views.z_m[order].isfinite()
    low = other.amin(dim=(1, 2), keepdim=True)
    high = torch.where(known, other, -math.inf).amax(dim=(1, 2), keepdim=True)
    assert float(((other - low) / (high - low))[pasted].max()) < 0.45
    assert bool(after.z_m[sky & ~pasted].isinf().all())
    assert not bool(after.z_m.isnan().any())


def test_a_view_of_scattered_readings_is_never_pasted_from() -> None:
    views = scenes()
    sparse = torch.arange(NUM) % 2 == 0
    views.z_m[sparse, :, ::2] = 0.0
    _, pasted, order = paste(views)
    assert not bool(pasted[sparse[order]].any())
    assert bool(pasted[~sparse[order]].any())


@pytest.mark.parametrize("z_m", [0.0, math.inf])
def test_views_without_depth_do_no_harm(z_m: float) -> None:
    views = scenes()
    views.z_m[:] = z_m
    after, pasted, _ = paste(views)
    assert not bool(pasted.any())
    assert torch.equal(after.z_m, views.z_m)


def test_a_share_of_none_changes_nothing() -> None:
    views = scenes()
    after, pasted, _ = paste(views, share=0.0)
    assert not bool(pasted.any())
    assert torch.equal(after.image, views.image)
    assert torch.equal(after.z_m, views.z_m)


def test_the_share_is_one_of_views() -> None:
    views = scenes(300)
    _, everywhere, _ = paste(views, 1.0)
    _, some, _ = paste(views, 0.3)
    whole, part = everywhere.any(dim=(1, 2)), some.any(dim=(1, 2))
    assert torch.equal(some[part], everywhere[part]), "a view gets all or nothing"
    assert float(part.sum() / whole.sum()) == pytest.approx(0.3, abs=0.08)


def test_the_generator_decides_and_what_comes_in_is_left_alone() -> None:
    views = scenes()
    before = replace(views, image=views.image.clone(), z_m=views.z_m.clone())
    first, again, other = (paste(views, 0.5, seed)[0] for seed in (1, 1, 2))
    assert torch.equal(first.z_m, again.z_m)
    assert torch.equal(first.image, again.image)
    assert not torch.equal(first.z_m, other.z_m)
    assert torch.equal(views.image, before.image)
    assert torch.equal(views.z_m, before.z_m)
