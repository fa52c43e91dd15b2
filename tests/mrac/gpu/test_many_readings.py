"""More readings than are judged in one group (160) or kriged at once (256), against the reference on the CPU."""

import numpy as np
import pytest
import torch

from mrac import Anchors
from mrac.fit.evidence import _KNOTS
from mrac.gp.features import ImageAppearance
from mrac.gpu import GpuCalibrator
from mrac.gpu.appearance import BatchAppearance, sample_bilinear
from mrac.gpu.dealing import Dealt, fitted_table, group_table
from mrac.gpu.fit import Curve, Readings
from mrac.gpu.kriging import BatchKriging
from mrac.gpu.tiles import farthest_points
from mrac.head import _tiles
from mrac.head.base import Scene
from mrac.head.kriging import Kriging, node_step
from mrac.types import FitResult, Samples
from tests.mrac.gpu.frames import TOLERANCE, assert_as_reference, inputs, operations, photograph, readings


@pytest.mark.parametrize(("bucket", "num", "kind"), [(256, 250, "near"), (640, 610, "cluster"), (1024, 1024, "near")])
def test_depth_and_verdicts_are_the_reference_s(bucket: int, num: int, kind: str) -> None:
    image = photograph(6)  # of most such blocks the network's depth is as flat as the readings' noise, and goes unused
    calibrator = GpuCalibrator(image.shape[:2], max_anchors=bucket, device="cpu")
    assert assert_as_reference(calibrator, [image], [readings(image, num, num, kind)]) == ["ok"]


def test_frames_of_one_batch_may_need_groups_and_tiles_or_not() -> None:
    """One group and a single solve; two groups and tiles."""
    image = photograph(1)
    calibrator = GpuCalibrator(image.shape[:2], batch=2, max_anchors=320, device="cpu")
    given = [readings(image, 90, 0, "near"), readings(image, 315, 1, "sentinel")]
    assert assert_as_reference(calibrator, [image] * 2, given) == ["ok", "ok"]


def test_readings_at_whole_pixels_are_the_reference_s() -> None:
    """Many are equally far from the middle of a tile, and which of them count as the nearest must not differ."""
    image = photograph(5)
    calibrator = GpuCalibrator(image.shape[:2], max_anchors=320, device="cpu")
    given = readings(image, 320, 5)
    assert_as_reference(calibrator, [image], [Anchors(given.uv_px.round(), given.z_m)])


def test_readings_that_contradict_the_network_are_the_reference_s() -> None:
    """Noise, 1 to 9 m at random: the field is pulled apart from pixel to pixel, the hardest case for rounding."""
    image = photograph(2)
    calibrator = GpuCalibrator(image.shape[:2], max_anchors=320, device="cpu")
    given = readings(image, 300, 2, "noise")
    assert assert_as_reference(calibrator, [image], [given]) == ["foundation_disagrees"]


def test_what_runs_does_not_depend_on_values_or_counts() -> None:
    image = photograph(0)
    stages = GpuCalibrator(image.shape[:2], max_anchors=320, device="cpu").stages
    given = inputs(readings(image, 310, 0), image, 320), inputs(readings(image, 40, 1, "noise"), image, 320)
    with torch.inference_mode():
        first, other = (operations(lambda each=each: stages(*each)) for each in given)  # type: ignore[misc]
    assert len(first) > 100
    assert first == other


@pytest.mark.parametrize("num", [150, 270, 420])
def test_the_head_is_the_reference_s_at_every_step_of_its_grid(num: int) -> None:
    """The more readings, the finer the grid of nodes, and the more tiles: which of them is found on the device."""
    shape = (240, 240)
    assert {node_step(shape, n) for n in (150, 270, 420)} == {1, 2}
    rng, image = np.random.default_rng(num), photograph(3, shape)
    rows = np.cumsum(rng.normal(0.0, 0.02, shape[0]))
    field = (rows[:, None] + 0.003 * np.arange(shape[1])).astype(np.float32)
    pixel = np.sort(rng.choice(shape[0] * shape[1], num, replace=False))
    uv_px = np.stack([pixel % shape[1], pixel // shape[1]], axis=1).astype(np.float64)
    x = field.ravel()[pixel].astype(np.float64)
    z_m, weight = 2.0 * np.exp(x + rng.normal(0.0, 0.05, num)), rng.uniform(0.1, 1.0, num)
    samples = Samples(uv_px, z_m, x, "log_depth", True, weight)
    fit = FitResult(1.0, float(np.log(2.0)), np.zeros((2, 2)), 0.1, np.ones(num, np.bool_))
    expected = Kriging()(Scene(image, field, samples, fit, ImageAppearance(image)))

    size, appearance = 480, BatchAppearance(shape)
    padded = [np.concatenate([part, np.ones((size - num, *part.shape[1:]))])[None] for part in (uv_px, z_m, weight)]
    uv, z, w = (torch.from_numpy(part) for part in padded)
    images, relative = torch.from_numpy(image)[None], torch.from_numpy(field)[None]
    cells, valid = appearance(images), torch.arange(size)[None] < num
    own = sample_bilinear(relative, uv)
    given = Readings(uv, z.log(), own, appearance.at_readings(cells, uv), valid, w, torch.tensor([True]))
    knots = torch.from_numpy(_KNOTS)
    curve = Curve(torch.zeros(1).double(), torch.ones(1).double(), knots, knots[None] + np.log(2.0))
    depth_m, sigma_m = BatchKriging(shape, appearance.cells, size)(given, curve, cells, relative)
    np.testing.assert_allclose(depth_m[0].numpy(), expected.depth_m, rtol=TOLERANCE)
    np.testing.assert_allclose(sigma_m[0].numpy() / expected.depth_m, expected.sigma_m / expected.depth_m, atol=1e-4)


def test_readings_are_dealt_into_groups_and_put_back() -> None:
    count, size = [3, 160, 161, 400], 400
    valid = torch.arange(size) < torch.tensor(count)[:, None]
    members = torch.from_numpy(group_table(size))[torch.tensor(count)].long()
    dealt, values = Dealt(members, valid), torch.rand(4, size)
    assert dealt.valid.sum(dim=2).T.tolist() == [[3, 0, 0], [160, 0, 0], [81, 80, 0], [134, 133, 133]]
    torch.testing.assert_close(dealt.in_order(dealt.groups(values)), values * valid)


def test_the_fit_uses_all_of_few_readings_and_160_of_many() -> None:
    assert fitted_table(300).sum(axis=1).tolist() == [min(num, 160) for num in range(301)]


def test_farthest_points_are_the_reference_s() -> None:
    rng = np.random.default_rng(0)
    pixel = np.sort(rng.choice(60 * 80, 300, replace=False))
    uv_px = np.stack([pixel % 80, pixel // 80], axis=1).astype(np.float64)
    there = rng.random(300) < 0.9
    found = farthest_points(torch.from_numpy(uv_px)[None], torch.from_numpy(there)[None])[0]
    expected = np.flatnonzero(there)[_tiles.farthest_points(uv_px[there], _tiles.NUM_SPREAD)]
    np.testing.assert_array_equal(found.numpy(), expected)
