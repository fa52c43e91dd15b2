import math
from typing import cast

import pytest
import torch
from torch import Tensor, nn

from mrac.gpu.network import DepthNetwork
from mrac.lab.train.foundation.validate import validate
from tests.lab.train import tiny


class Seer(nn.Module):
    """Reads log depth out of the red channel, at half the size as the network does."""

    def forward(self, image: Tensor) -> Tensor:
        return nn.functional.avg_pool2d(image[:, :1], 2) / 100.0


def seer() -> DepthNetwork:
    return cast("DepthNetwork", Seer())


def test_a_network_right_up_to_a_line_scores_next_to_nothing() -> None:
    frames = tiny.frames(3)
    red = (frames.z_m.log() * 60 + 80).clamp(0, 255)
    frames.images[:, 0] = red.to(torch.uint8)
    assert validate(seer(), frames) < 0.02
    frames.images[:, 0] = 255 - frames.images[:, 0]
    assert validate(seer(), frames) < 0.02, "a line may fall as well"


def test_a_network_that_sees_nothing_scores_as_the_best_constant() -> None:
    frames = tiny.frames(3)
    frames.images[:] = 128
    z = frames.z_m.double()
    constant = z.log().mean(dim=(1, 2), keepdim=True).exp()
    expected = float(((constant - z).abs() / z).mean())
    assert validate(seer(), frames, num_anchors=5_000) == pytest.approx(expected, rel=0.02)


def test_the_seed_chooses_the_pixels() -> None:
    frames = tiny.frames(2)
    assert validate(seer(), frames) == validate(seer(), frames)
    assert validate(seer(), frames) != validate(seer(), frames, seed=1)


@pytest.mark.parametrize("num_known", [1, 2, 30])
def test_few_readings_are_enough(num_known: int) -> None:
    frames = tiny.frames(1)
    kept = frames.z_m.flatten()[:num_known].clone()
    frames.z_m[:] = 0
    frames.z_m.view(-1)[:num_known] = kept
    assert validate(seer(), frames) == pytest.approx(0, abs=0.05)


def test_frames_without_a_reading_do_not_count() -> None:
    frames = tiny.frames(3)
    alone = validate(seer(), frames.pick([0]))
    frames.z_m[1:] = 0
    assert validate(seer(), frames) == alone
    frames.z_m[:] = 0
    assert math.isnan(validate(seer(), frames))
