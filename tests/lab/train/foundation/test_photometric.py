from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mrac.lab.train.foundation.photometric import hide_patches, vary_colours


def pictures(num: int = 8) -> Tensor:
    image = torch.rand(num, 3, 24, 32, generator=torch.Generator().manual_seed(9)) * 255
    image[0, :, :4], image[0, :, 4:8] = 0.0, 255.0
    return image


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_no_strength_gives_the_picture_back() -> None:
    torch.testing.assert_close(vary_colours(pictures(), generator(), 0.0), pictures(), atol=0.256, rtol=0)
    brighter = pictures().clamp(min=1.0)
    torch.testing.assert_close(vary_colours(brighter, generator(), 0.0), brighter, atol=1e-3, rtol=0)


@pytest.mark.parametrize("strength", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("level", [None, 0.0, 255.0])
def test_colours_stay_colours(strength: float, level: float | None) -> None:
    image = pictures(64) if level is None else torch.full((64, 3, 8, 8), level)
    varied = vary_colours(image, generator(), strength)
    assert varied.shape == image.shape
    assert varied.dtype == torch.float32
    assert bool(varied.isfinite().all())
    assert float(varied.min()) >= 0
    assert float(varied.max()) <= 255


def test_every_picture_changes_in_its_own_way() -> None:
    image = pictures()[1:2].expand(16, -1, -1, -1).contiguous()
    varied = vary_colours(image, generator())
    change = (varied - image).abs().mean(dim=(1, 2, 3))
    assert bool((change > 0.5).all())
    assert len(set(change.tolist())) == 16


def test_some_pictures_lose_their_colour() -> None:
    varied = vary_colours(pictures()[1:2].expand(400, -1, -1, -1).contiguous(), generator())
    # Grey before the lamp's tint: the channels then are multiples of one another, clipped, tinted and in noise.
    scatter = torch.stack([torch.corrcoef(x.flatten(1))[0, 1] for x in varied])
    assert 0.03 < float((scatter > 0.9).float().mean()) < 0.15


def test_pictures_of_a_batch_do_not_touch() -> None:
    """But for the draws, which are made for the batch: what one picture holds changes no other."""
    image, other = pictures(), pictures()
    other[3:] = 77.0
    first, second = vary_colours(image, generator()), vary_colours(other, generator())
    assert torch.equal(first[:3], second[:3])


@pytest.mark.parametrize("change", [vary_colours, hide_patches])
def test_the_generator_decides(change: Callable[[Tensor, torch.Generator], Tensor]) -> None:
    first, again, other = (change(pictures(), generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_nothing_is_hidden_at_a_share_of_none() -> None:
    assert torch.equal(hide_patches(pictures(), generator(), share=0.0), pictures())


def test_every_picture_has_one_patch_of_one_colour_at_a_share_of_all() -> None:
    image = pictures(200)
    hidden = hide_patches(image, generator(), share=1.0, most=0.4)
    changed = (hidden != image).any(dim=1)
    assert float(changed.any(dim=2).any(dim=1).float().mean()) > 0.9  # a patch may be thinner than a pixel
    for mask, picture in zip(changed, hidden, strict=True):
        if not bool(mask.any()):
            continue
        rows, columns = mask.any(dim=1).nonzero()[:, 0], mask.any(dim=0).nonzero()[:, 0]
        patch = picture[:, rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        assert bool((patch == patch[:, :1, :1]).all())
        assert patch.shape[1] <= 0.4 * 24 + 1
        assert patch.shape[2] <= 0.4 * 32 + 1


def test_the_share_is_the_share() -> None:
    image = pictures(600)
    changed = (hide_patches(image, generator(), share=0.3) != image).flatten(1).any(dim=1)
    assert float(changed.float().mean()) == pytest.approx(0.3, abs=0.06)
