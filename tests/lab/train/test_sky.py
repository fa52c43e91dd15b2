"""The sky: found in a photograph, carried through views, told to the network."""

import math

import numpy as np
import pytest
import torch

from mrac.conventions import FloatArray, ImageArray
from mrac.lab.train.foundation.losses import sky_l1
from mrac.lab.train.foundation.training import CANONICAL_FOCAL, FoundationTraining, Weights
from mrac.lab.train.foundation.validate import validate
from mrac.lab.train.foundation.views import ViewOptions, Views, sample_views
from mrac.lab.train.frames import Frames
from mrac.lab.train.sky import find_sky
from tests.lab.train import tiny


def street() -> tuple[ImageArray, FloatArray]:
    """Bright sky over rows 0–29, a dark road with readings below; a white wall at the right that was measured."""
    image = np.full((80, 120, 3), (180, 200, 230), np.uint8)
    image[30:] = (60, 60, 60)
    image[5:, 100:] = (200, 210, 225)
    z_m = np.zeros((80, 120), np.float32)
    z_m[40::4, ::3] = 12.0
    z_m[8::4, 102::3] = 6.0
    return image, z_m


def test_sky_is_bright_smooth_at_the_top_and_above_every_reading() -> None:
    sky = find_sky(*street())
    assert sky[:26, 5:90].all()
    assert not sky[31:].any()
    assert not sky[8:, 102:].any()


@pytest.mark.parametrize("colour", [(20, 20, 20), (230, 180, 150)])
def test_dark_or_reddish_is_no_sky(colour: tuple[int, int, int]) -> None:
    image, z_m = street()
    image[:30] = colour
    assert not find_sky(image, z_m)[:, :95].any()


def test_what_does_not_reach_the_top_is_no_sky() -> None:
    image, z_m = street()
    image[:3] = 0
    assert not find_sky(image, z_m).any()


def test_the_sky_stays_sky_in_every_view() -> None:
    frames = tiny.frames(2)
    z_m = frames.z_m.clone()
    z_m[:, :20] = math.inf
    views = sample_views(
        Frames(frames.images, z_m, frames.focal_px, frames.names, frames.scenes),
        16,
        (64, 96),
        ViewOptions(),
        torch.Generator().manual_seed(0),
    )
    assert views.z_m.isinf().any()
    assert not views.z_m.isnan().any()
    assert views.z_m[views.z_m.isfinite()].max() < 100


def test_only_sky_that_is_too_near_costs() -> None:
    z = torch.tensor([[[math.inf, math.inf, 2.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]]])
    predicted = torch.tensor([[[3.0, 9.0, -5.0, -5.0]], [[-5.0] * 4]])
    torch.testing.assert_close(sky_l1(predicted, z, torch.tensor([5.0, 5.0])), torch.tensor([1.0, 0.0]))


def test_training_pushes_the_sky_away_and_nothing_else_sees_it() -> None:
    training = FoundationTraining(tiny.narrow(weights=Weights(sky=1.0)), [tiny.frames(2)], None)
    z = torch.full((1, 8, 8), 3.0)
    z[:, :4] = math.inf
    predicted = torch.full((1, 8, 8), math.log(3.0), requires_grad=True)
    loss = training.loss(predicted, Views(torch.zeros(1, 3, 8, 8), z, torch.tensor([CANONICAL_FOCAL])))
    loss.backward()  # type: ignore[no-untyped-call]
    assert predicted.grad is not None
    assert loss.item() == pytest.approx(math.log(200 / 3), rel=1e-4)
    assert (predicted.grad[:, :4] < 0).all()


def test_sky_is_not_measured_on() -> None:
    frames = tiny.frames(2)
    training = FoundationTraining(tiny.narrow(), [frames], None)
    z_m = frames.z_m.clone()
    z_m[:, :10] = math.inf
    score = validate(training.averaged, Frames(frames.images, z_m, frames.focal_px, frames.names, frames.scenes))
    assert math.isfinite(score)
