"""Depth against closed forms: a wall, a floor, a sphere, a turned box, an upright cylinder."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from mrac.conventions import FloatArray
from mrac.lab.train.synthetic.scenes.render import trace
from mrac.lab.train.synthetic.scenes.roles import Role
from mrac.lab.train.synthetic.scenes.scene import Pieces, SceneBatch, camera_rotation, yaw_rotation

HEIGHT, WIDTH = 48, 64
TAN_HALF_FOV = 0.6


def one_piece(half: tuple[float, float, float], origin: tuple[float, float, float], yaw: float, bulge: float) -> Pieces:
    return Pieces(
        rotation=yaw_rotation(torch.tensor([[yaw]])),
        origin=torch.tensor([[origin]]),
        centre=torch.zeros(1, 1, 1, 3),
        half=torch.tensor([[[half]]]),
        bulge=torch.full((1, 1, 1), bulge),
        role=torch.full((1, 1, 1), int(Role.MAIN)),
    )


NOTHING = one_piece((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0)


def scene(*, pitch: float = 0.0, yaw: float = 0.0, roll: float = 0.0, outdoors: bool = False) -> SceneBatch:
    """A 6 × 3 × 10 m room, or a ground plane, seen from 1.5 m above the middle of its floor."""
    angles = (torch.tensor([angle]) for angle in (yaw, pitch, roll))
    return SceneBatch(
        eye=torch.tensor([[0.0, 1.5, 0.0]]),
        rotation=camera_rotation(*angles),
        tan_half_fov=torch.tensor([TAN_HALF_FOV]),
        shell_low=torch.tensor([[-3.0, 0.0, -5.0]]) * (100.0 if outdoors else 1.0),
        shell_high=torch.tensor([[3.0, 3.0, 5.0]]) * (100.0 if outdoors else 1.0),
        shell_role=torch.full((1, 6), int(Role.WALL)),
        outdoors=torch.tensor([outdoors]),
        boxes=NOTHING,
        rounds=NOTHING,
        light=torch.zeros(1, 2, 3),
        power=torch.ones(1, 2),
        reach=torch.ones(1, 2),
        ambient=torch.ones(1),
    )


def depth(what: SceneBatch) -> FloatArray:
    hits, _ = trace(what, (HEIGHT, WIDTH))
    return hits.z[0].numpy().astype(np.float64)


def rays() -> tuple[FloatArray, FloatArray]:
    """The camera rays' x and y at z = 1, from the conventions page: pixel centres at integers."""
    f_px = WIDTH / (2 * TAN_HALF_FOV)
    u, v = np.meshgrid(np.arange(WIDTH, dtype=np.float64), np.arange(HEIGHT, dtype=np.float64))
    return (u - (WIDTH - 1) / 2) / f_px, (v - (HEIGHT - 1) / 2) / f_px


def test_a_fronto_parallel_wall_has_one_depth_though_its_rays_differ_in_length() -> None:
    z, (x, y) = depth(scene()), rays()
    on_wall = (np.abs(5 * x) < 3) & (np.abs(5 * y) < 1.5)
    assert on_wall.any()
    np.testing.assert_allclose(z[on_wall], 5.0, rtol=1e-6)
    assert (np.sqrt(1 + x**2 + y**2) * 5.0)[on_wall].max() > 5.5  # what range would have been


def test_the_rest_of_the_room_is_met_in_closed_form() -> None:
    x, y = rays()
    expected = np.minimum(5.0, np.minimum(3 / np.abs(x), 1.5 / np.abs(y)))
    np.testing.assert_allclose(depth(scene()), expected, rtol=1e-5)


@pytest.mark.parametrize("pitch_deg", [-40.0, -12.0, 0.0, 10.0])
def test_a_floor_seen_from_a_known_height_and_pitch(pitch_deg: float) -> None:
    pitch = math.radians(pitch_deg)
    _, y = rays()
    falling = y * math.cos(pitch) - math.sin(pitch)
    z = depth(scene(pitch=pitch, outdoors=True))
    near = falling > 0.05
    np.testing.assert_allclose(z[near], 1.5 / falling[near], rtol=1e-5)
    assert np.isinf(z[falling < 0]).all()


def test_roll_turns_the_picture_and_leaves_the_middle() -> None:
    level, rolled = depth(scene(pitch=-0.3)), depth(scene(pitch=-0.3, roll=math.pi))
    np.testing.assert_allclose(rolled, level[::-1, ::-1], rtol=1e-4)


def test_a_sphere_in_closed_form() -> None:
    centre, radius = np.array([0.4, -0.2, 3.0]), 0.5  # camera axes: right, down, ahead
    body = one_piece((radius,) * 3, (0.4, 1.7, 3.0), 0.7, 1.0)
    x, y = rays()
    ray = np.stack((x, y, np.ones_like(x)), -1)
    a, b = (ray**2).sum(-1), ray @ centre
    inside = b**2 - a * ((centre**2).sum() - radius**2)
    met = inside > 1e-3
    z = depth(replace(scene(), rounds=body))
    assert met.sum() > 100
    np.testing.assert_allclose(z[met], ((b - np.sqrt(np.maximum(inside, 0))) / a)[met], rtol=1e-5)
    np.testing.assert_allclose(z[inside < -1e-3], depth(scene())[inside < -1e-3])


def test_a_thin_far_pole_keeps_its_width() -> None:
    # The textbook discriminant loses such a pole to rounding in float32.
    body = one_piece((0.05, 4.0, 0.05), (0.0, 4.0, 60.0), 0.0, 0.0)
    what = replace(scene(outdoors=True), rounds=body, tan_half_fov=torch.tensor([0.003]))
    hits, f_px = trace(what, (HEIGHT, WIDTH))
    x = (np.arange(WIDTH) - (WIDTH - 1) / 2) / f_px.numpy()
    a, b = 1 + x**2, 60.0
    inside = b**2 - a * (60.0**2 - 0.05**2)
    row = hits.z[0, HEIGHT // 2].numpy()
    np.testing.assert_array_equal((row < 61) & (row > 59), inside > 0)
    np.testing.assert_allclose(row[inside > 0], ((b - np.sqrt(inside[inside > 0])) / a[inside > 0]), rtol=1e-6)


def test_a_cylinder_has_flat_ends() -> None:
    body = one_piece((0.5, 0.2, 0.5), (0.0, 0.2, 2.0), 0.0, 0.0)
    what = replace(scene(pitch=-0.6), rounds=body)
    hits, _ = trace(what, (HEIGHT, WIDTH))
    on_body = hits.number[0] >= 7
    height = hits.point[1][0][on_body]
    assert bool(on_body.any())
    assert float(height.max()) == pytest.approx(0.4, abs=1e-4)
    assert float((height - 0.4).abs().lt(1e-4).float().mean()) > 0.5


def test_a_turned_box_shows_its_edge() -> None:
    body = one_piece((0.5, 0.5, 0.5), (0.0, 1.5, 3.0), math.pi / 4, -1.0)
    z = depth(replace(scene(), boxes=body))
    x, _ = rays()
    row = HEIGHT // 2
    met = np.abs(x[row]) < 0.15
    # Its two visible faces are |X| + (3 − Z) = 0.5 √2.
    np.testing.assert_allclose(z[row][met], (3 - math.sqrt(0.5)) / (1 - np.abs(x[row][met])), rtol=1e-5)


def test_what_is_to_the_right_and_up_is_drawn_there() -> None:
    body = one_piece((0.1, 0.1, 0.1), (0.6, 2.0, 3.0), 0.0, -1.0)
    v, u = np.nonzero(depth(replace(scene(), boxes=body)) < 3.2)
    assert u.mean() > WIDTH / 2
    assert v.mean() < HEIGHT / 2


def test_an_absent_primitive_is_not_met() -> None:
    def gone(bulge: float) -> Tensor:
        body = one_piece((0.0, 0.0, 0.0), (0.0, 1.5, 2.0), 0.0, bulge)
        return torch.from_numpy(depth(replace(scene(), boxes=body, rounds=body)))

    expected = torch.from_numpy(depth(scene()))
    assert torch.equal(gone(0.0), expected)
    assert torch.equal(gone(1.0), expected)
