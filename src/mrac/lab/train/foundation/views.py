"""New views of a measured scene: the virtual camera is turned and zoomed, and depth turns with it, exactly."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mrac.lab.train.frames import Frames


@dataclass(frozen=True)
class ViewOptions:
    """How far the virtual camera strays from the real one.

    Attributes:
        turn_deg: largest turn left, right, up or down.
        roll_deg: largest roll.
        zoom: the largest; 1 shows the whole frame.
        stretch: of the aspect ratio, at most.
        plain: share of views that show the whole frame as it was taken, as in use.
    """

    turn_deg: float = 8.0
    roll_deg: float = 6.0
    zoom: float = 1.8
    stretch: float = 1.1
    plain: float = 0.3


@dataclass(frozen=True)
class Views:
    """A batch for the network.

    Attributes:
        image: (B, 3, H, W) float32 RGB in [0, 255].
        z_m: (B, H, W) metres along the view's own optical axis; 0 where nothing is known, infinite in the sky.
        focal: (B,) focal length over the view's width.
    """

    image: Tensor
    z_m: Tensor
    focal: Tensor


@dataclass(frozen=True)
class _Cameras:
    """B virtual cameras: rotations from the frame's axes to the view's (B, 3, 3), the rest (B,) in pixels."""

    rotation: Tensor
    fx_px: Tensor
    fy_px: Tensor
    shift_u_px: Tensor
    shift_v_px: Tensor


def sample_views(
    frames: Frames, odds_N: Tensor, num: int, size: tuple[int, int], options: ViewOptions, generator: torch.Generator
) -> Views:
    """Random views of random frames, half of them mirrored.

    A turned pinhole camera sees the same scene through a homography, and the depth of a point along the new axis is
    its old depth times the third row of the rotation applied to its ray: no hole appears, nothing is interpolated but
    the picture.

    Args:
        frames: N, to choose from.
        odds_N: how often each is chosen, up to a factor.
        num: B.
        size: (H, W) of the views, in pixels.
        options: of the virtual camera.
        generator: on the device of the frames.

    Returns:
        `Views` of that size.
    """
    device = frames.images.device
    index = torch.multinomial(odds_N, num, replacement=True, generator=generator)
    focal_px = frames.focal_px[index]
    h, w = frames.images.shape[2:]
    cameras = _draw_cameras(focal_px, (h, w), size, options, generator)
    ray_BHW3 = _rays(cameras, size)
    # Divided by depth: the frame's pixel that each of the view's pixels looks through.
    old_ray_BHW3 = ray_BHW3 / ray_BHW3[..., 2:].clamp(min=1e-3)
    mirror_B = torch.where(torch.rand(num, generator=generator, device=device) < 0.5, -1.0, 1.0)
    across = old_ray_BHW3[..., 0] * (2.0 / w) * (focal_px * mirror_B)[:, None, None]
    down = old_ray_BHW3[..., 1] * (2.0 / h) * focal_px[:, None, None]
    grid_BHW2 = torch.stack([across, down], dim=-1)
    image = functional.grid_sample(
        frames.images[index].float(), grid_BHW2, mode="bilinear", padding_mode="reflection", align_corners=False
    )
    z = functional.grid_sample(frames.z_m[index, None], grid_BHW2, mode="nearest", align_corners=False)[:, 0]
    new_over_old = torch.einsum("bj,bhwj->bhw", cameras.rotation[:, 2], old_ray_BHW3)
    return Views(image, z * new_over_old.clamp(min=1e-6), cameras.fx_px / size[1])


def _draw_cameras(
    focal_px: Tensor, frame: tuple[int, int], view: tuple[int, int], options: ViewOptions, generator: torch.Generator
) -> _Cameras:
    (h, w), (H, W) = frame, view

    def uniform(low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(len(focal_px), generator=generator, device=focal_px.device)

    free = (uniform(0.0, 1.0) >= options.plain).float()  # 0: the frame as it was taken
    turn, roll = math.radians(options.turn_deg), math.radians(options.roll_deg)
    rotation = _rotation(free * uniform(-turn, turn), free * uniform(-turn, turn), free * uniform(-roll, roll))
    zoom = torch.exp(free * uniform(0.0, math.log(options.zoom)))
    stretch = torch.exp(free * uniform(-math.log(options.stretch), math.log(options.stretch)))
    # Enlarged until it covers the view, or plainly resized to it as in use.
    cover = max(H / h, W / w)
    enlarged_u = torch.where(free > 0, cover * zoom * stretch, W / w)
    enlarged_v = torch.where(free > 0, cover * zoom / stretch, H / h)
    # What the view leaves over of the enlarged frame is room to shift it in.
    shift_u = free * uniform(-0.5, 0.5) * (enlarged_u * w - W).clamp(min=0.0)
    shift_v = free * uniform(-0.5, 0.5) * (enlarged_v * h - H).clamp(min=0.0)
    return _Cameras(rotation, focal_px * enlarged_u, focal_px * enlarged_v, shift_u, shift_v)


def _rays(cameras: _Cameras, size: tuple[int, int]) -> Tensor:
    """(B, H, W, 3) directions through the view's pixels, in the axes of the frame."""
    H, W = size
    device = cameras.fx_px.device
    u = (torch.arange(W, device=device) + 0.5 - W / 2 + cameras.shift_u_px[:, None]) / cameras.fx_px[:, None]
    v = (torch.arange(H, device=device) + 0.5 - H / 2 + cameras.shift_v_px[:, None]) / cameras.fy_px[:, None]
    u_BHW, v_BHW = u[:, None, :].expand(-1, H, W), v[:, :, None].expand(-1, H, W)
    ray_BHW3 = torch.stack([u_BHW, v_BHW, torch.ones_like(u_BHW)], dim=-1)
    return torch.einsum("bji,bhwj->bhwi", cameras.rotation, ray_BHW3)  # the rotation's transpose: from view to frame


def _rotation(yaw: Tensor, pitch: Tensor, roll: Tensor) -> Tensor:
    """(B, 3, 3): roll after pitch after yaw."""
    zero, one = torch.zeros_like(yaw), torch.ones_like(yaw)

    def stack(*rows: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)

    about_y = stack((yaw.cos(), zero, yaw.sin()), (zero, one, zero), (-yaw.sin(), zero, yaw.cos()))
    about_x = stack((one, zero, zero), (zero, pitch.cos(), -pitch.sin()), (zero, pitch.sin(), pitch.cos()))
    about_z = stack((roll.cos(), -roll.sin(), zero), (roll.sin(), roll.cos(), zero), (zero, zero, one))
    return about_z @ about_x @ about_y
