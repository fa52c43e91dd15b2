"""Turned, zoomed and mirrored views of a plane, against what the plane's equation says."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from mrac.lab.train.foundation.views import ViewOptions, Views, _Cameras, _draw_cameras, sample_views
from mrac.lab.train.frames import Frames

Array = NDArray[np.float64]

HEIGHT, WIDTH, FOCAL_PX = 192, 256, 300.0
NORMAL, DISTANCE_M = np.array([0.3, -0.5, 1.0]), 2.0
NUM, SIZE = 12, (96, 160)
STILL = ViewOptions(turn_deg=0.0, roll_deg=0.0, zoom=1.0, stretch=1.0, plain=0.0)
CAMERAS = {
    "turned": ViewOptions(turn_deg=7.0, roll_deg=0.0, zoom=1.0, stretch=1.0, plain=0.0),
    "rolled": ViewOptions(turn_deg=0.0, roll_deg=9.0, zoom=1.0, stretch=1.0, plain=0.0),
    "zoomed": ViewOptions(turn_deg=0.0, roll_deg=0.0, zoom=1.8, stretch=1.0, plain=0.0),
    "stretched": ViewOptions(turn_deg=0.0, roll_deg=0.0, zoom=1.0, stretch=1.3, plain=0.0),
    "plain": ViewOptions(plain=1.0),
    "all at once": ViewOptions(turn_deg=12.0, roll_deg=10.0, zoom=1.8, stretch=1.3, plain=0.2),
}


def plane() -> Frames:
    """One frame of the plane n·X = d, its columns in red, its rows in green."""
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    ray = np.stack([(u + 0.5 - WIDTH / 2) / FOCAL_PX, (v + 0.5 - HEIGHT / 2) / FOCAL_PX, np.ones_like(u)], axis=-1)
    z_m = torch.from_numpy((DISTANCE_M / (ray @ NORMAL)).astype(np.float32))
    image = torch.from_numpy(np.stack([u, v, 0 * u]).astype(np.uint8))
    return Frames(image[None], z_m[None], torch.tensor([FOCAL_PX]), ("plane/0",), ("plane",))


def sample(options: ViewOptions, size: tuple[int, int] = SIZE, seed: int = 0) -> tuple[Views, _Cameras, Tensor]:
    """Views, the cameras that took them, and 1 or -1 for each that is mirrored: the same draws once more."""
    views = sample_views(plane(), torch.ones(1), NUM, size, options, torch.Generator().manual_seed(seed))
    again = torch.Generator().manual_seed(seed)
    torch.multinomial(torch.ones(1), NUM, replacement=True, generator=again)
    cameras = _draw_cameras(torch.full((NUM,), FOCAL_PX), (HEIGHT, WIDTH), size, options, again)
    return views, cameras, torch.where(torch.rand(NUM, generator=again) < 0.5, -1.0, 1.0)


def look(cameras: _Cameras, mirror: Tensor, size: tuple[int, int]) -> tuple[Array, Array, Array]:
    """In double precision: where in the frame's axes the points at depth 1 of the view lie (B, H, W, 3), and the
    frame's columns and rows (B, H, W) that show them.
    """
    v, u = np.mgrid[0 : size[0], 0 : size[1]] + 0.5
    directions = []
    for i in range(len(mirror)):
        across = (u - size[1] / 2 + float(cameras.shift_u_px[i])) / float(cameras.fx_px[i])
        down = (v - size[0] / 2 + float(cameras.shift_v_px[i])) / float(cameras.fy_px[i])
        seen = np.stack([across, down, np.ones_like(u)], axis=-1) @ cameras.rotation[i].double().numpy()
        directions.append(seen * [float(mirror[i]), 1.0, 1.0])
    frame = np.stack(directions)
    pixel = frame[..., :2] / frame[..., 2:] * FOCAL_PX + [WIDTH / 2 - 0.5, HEIGHT / 2 - 0.5]
    return frame, pixel[..., 0], pixel[..., 1]


@pytest.mark.parametrize("name", CAMERAS)
def test_depth_and_picture_are_those_of_the_turned_camera(name: str) -> None:
    views, cameras, mirror = sample(CAMERAS[name])
    assert set(mirror.tolist()) == {-1.0, 1.0}
    direction, column, row = look(cameras, mirror, SIZE)
    inside = (column > 1) & (column < WIDTH - 2) & (row > 1) & (row < HEIGHT - 2)
    assert inside.mean() > 0.7
    # Half a pixel of the frame is what the nearest reading may be off.
    exact = DISTANCE_M / (direction @ NORMAL)
    step = 0.5 * np.abs(NORMAL[:2]).sum() / FOCAL_PX / (direction @ NORMAL / direction[..., 2])
    assert np.all((np.abs(views.z_m.numpy() / exact - 1) < 1.05 * step + 1e-5)[inside])
    assert step.max() < 0.005, "a wrong turn would hide in the tolerance"
    np.testing.assert_allclose(views.image[:, 0].numpy()[inside], column[inside], atol=5e-3)
    np.testing.assert_allclose(views.image[:, 1].numpy()[inside], row[inside], atol=5e-3)


def test_a_turn_changes_the_depth_by_far_more_than_the_tolerance() -> None:
    views, cameras, mirror = sample(CAMERAS["turned"])
    direction, _, _ = look(cameras, mirror, SIZE)
    as_it_was = DISTANCE_M / (direction / direction[..., 2:] @ NORMAL)
    known = views.z_m.numpy() > 0
    assert np.percentile(np.abs(views.z_m.numpy() / as_it_was - 1)[known], 90) > 0.02


def test_rotations_are_rotations() -> None:
    _, cameras, _ = sample(CAMERAS["all at once"])
    product = cameras.rotation @ cameras.rotation.transpose(1, 2)
    # Three matrices of rounded sines and cosines and three products of them: some 30 float32 roundings of 2^-24 each.
    torch.testing.assert_close(product, torch.eye(3).expand(NUM, 3, 3), atol=32 * 2.0**-24, rtol=0)
    torch.testing.assert_close(torch.linalg.det(cameras.rotation), torch.ones(NUM))


@pytest.mark.parametrize("size", [(96, 160), (288, 384), (128, 416)])
def test_plain_views_are_the_frame_resized(size: tuple[int, int]) -> None:
    frames = plane()
    views, _, mirror = sample(ViewOptions(plain=1.0), size)
    resized = functional.interpolate(frames.images.float(), size=size, mode="bilinear", align_corners=False)[0]
    assert bool((views.z_m > 0).all())
    torch.testing.assert_close(views.focal, torch.full((NUM,), FOCAL_PX / WIDTH))
    for image, sign in zip(views.image, mirror, strict=True):
        torch.testing.assert_close(image if sign > 0 else image.flip(-1), resized, atol=5e-3, rtol=0)


@pytest.mark.parametrize("name", ["zoomed", "stretched"])
def test_the_focal_length_is_what_the_picture_shows(name: str) -> None:
    """Without a turn, a pixel of the view spans f / fx pixels of the frame."""
    views, cameras, _ = sample(CAMERAS[name])
    columns = views.image[:, 0, SIZE[0] // 2, SIZE[1] // 4 : -SIZE[1] // 4]
    span = columns.diff(dim=1).abs().mean(dim=1)
    torch.testing.assert_close(views.focal, FOCAL_PX / span / SIZE[1], rtol=1e-3, atol=0)
    assert float(views.focal.std()) > 0.01
    limit = CAMERAS[name].zoom * CAMERAS[name].stretch
    cover = max(SIZE[0] / HEIGHT, SIZE[1] / WIDTH)
    assert bool((cameras.fx_px / FOCAL_PX / cover <= limit * (1 + 1e-6)).all())


def test_a_stretch_widens_as_much_as_it_flattens() -> None:
    views, _, _ = sample(CAMERAS["stretched"])
    across = views.image[:, 0, SIZE[0] // 2, 40:120].diff(dim=1).abs().mean(dim=1)
    down = views.image[:, 1, 24:72, SIZE[1] // 2].diff(dim=1).abs().mean(dim=1)
    cover = max(SIZE[0] / HEIGHT, SIZE[1] / WIDTH)
    torch.testing.assert_close(across * down, torch.full((NUM,), cover**-2), rtol=1e-3, atol=0)
    assert float((across / down).max()) > 1.2
    assert float((across / down).min()) < 1 / 1.2


def test_nothing_outside_the_frame_has_depth() -> None:
    views, cameras, mirror = sample(ViewOptions(turn_deg=12.0, roll_deg=10.0, zoom=1.0, stretch=1.3, plain=0.0))
    _, column, row = look(cameras, mirror, SIZE)
    outside = (column < -0.51) | (column > WIDTH - 0.49) | (row < -0.51) | (row > HEIGHT - 0.49)
    inside = (column > -0.49) & (column < WIDTH - 0.51) & (row > -0.49) & (row < HEIGHT - 0.51)
    assert outside.mean() > 0.02
    assert not views.z_m.numpy()[outside].any()
    assert (views.z_m.numpy()[inside] > 0).all()


def test_what_was_not_measured_stays_unknown() -> None:
    frames = plane()
    frames.z_m[:, :, : WIDTH // 2] = 0
    views = sample_views(frames, torch.ones(1), NUM, SIZE, ViewOptions(), torch.Generator().manual_seed(0))
    share = float((views.z_m > 0).float().mean())
    assert 0.2 < share < 0.8
    assert bool(((views.z_m == 0) | (views.z_m > 0.5)).all()), "never a mixture of known and unknown"


def test_the_whole_frame_fits_a_view_of_its_own_shape() -> None:
    views, _, mirror = sample(STILL, (HEIGHT, WIDTH))
    for z, sign in zip(views.z_m, mirror, strict=True):
        torch.testing.assert_close(z if sign > 0 else z.flip(-1), plane().z_m[0])


@pytest.mark.parametrize("odds", [(1.0, 3.0, 0.0), (0.1, 0.3, 0.0), (0.0, 0.0, 1.0)])
def test_frames_come_as_often_as_their_odds_say(odds: tuple[float, float, float]) -> None:
    frames = Frames(
        torch.arange(3, dtype=torch.uint8)[:, None, None, None].expand(3, 3, 8, 8),
        torch.ones(3, 8, 8),
        torch.full((3,), 8.0),
        ("a/0", "a/1", "a/2"),
        ("a", "a", "a"),
    )
    views = sample_views(frames, torch.tensor(odds), 400, (8, 8), ViewOptions(), torch.Generator().manual_seed(0))
    drawn = views.image[:, 0, 4, 4].round().long().bincount(minlength=3) / 400
    expected = torch.tensor(odds) / sum(odds)
    torch.testing.assert_close(drawn, expected, atol=0.08, rtol=0)
    assert not drawn[expected == 0].any()


def test_the_generator_decides() -> None:
    first, again, other = (sample(ViewOptions(), seed=seed)[0] for seed in (1, 1, 2))
    assert torch.equal(first.image, again.image)
    assert torch.equal(first.z_m, again.z_m)
    assert torch.equal(first.focal, again.focal)
    assert not torch.equal(first.z_m, other.z_m)
