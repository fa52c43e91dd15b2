"""Rendered frames: as many as asked for, as the training reads them, the same for the same seed."""

import pytest
import torch

from mrac.lab.train.foundation import rendered
from mrac.lab.train.foundation.rendered import render_frames
from mrac.lab.train.frames import Frames

SIZE = (24, 32)


def frames(num: int = 20, seed: int = 0) -> Frames:
    generator = torch.Generator().manual_seed(9)
    photographs = torch.randint(0, 256, (2, 3, *SIZE), generator=generator, dtype=torch.uint8)
    return render_frames(num, SIZE, photographs, seed)


@pytest.mark.parametrize("at_once", [7, 64])
def test_there_are_as_many_as_asked_for(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendered, "_AT_ONCE", at_once)
    made = frames()
    assert made.images.shape == (20, 3, *SIZE)
    assert made.images.dtype == torch.uint8
    assert made.z_m.shape == (20, *SIZE)
    assert made.set_name == "scenes"
    assert len(set(made.scenes)) == 20, "each is a scene of its own"


def test_depth_is_positive_and_infinite_only_in_the_sky() -> None:
    made = frames(40)
    assert not bool(made.z_m.isnan().any())
    assert float(made.z_m.min()) > 0
    assert 0.0 < float(made.z_m.isinf().float().mean()) < 0.4
    assert float(made.z_m.isfinite().flatten(1).any(1).float().mean()) == 1.0


def test_the_focal_lengths_are_those_of_real_lenses() -> None:
    made = frames()
    over_width = made.focal_px / SIZE[1]
    assert 0.3 < float(over_width.min()) < float(over_width.max()) < 2.0


def test_the_seed_decides() -> None:
    first, again, other = frames(), frames(), frames(seed=1)
    assert torch.equal(first.images, again.images)
    assert torch.equal(first.z_m, again.z_m)
    assert not torch.equal(first.z_m, other.z_m)
