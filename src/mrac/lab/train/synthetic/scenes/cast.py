"""Casts rays against boxes and round bodies, one primitive at a time, keeping only the nearest hit of each pixel.

Rays are origin + t·direction. Camera rays have a direction whose camera z is 1, so that their t is depth along the
optical axis, exact up to float32 rounding.
"""

import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.scene import SceneBatch

NEAR_CLIP_M = 0.1
Vector = tuple[Tensor, Tensor, Tensor]
"""Three tensors that broadcast to (B, H, W): the components along x, y and z."""
Rays = tuple[Vector, Vector]
Hit = tuple[Tensor, Tensor]
Frame = tuple[Tensor, Tensor]


def rotate(matrix_B33: Tensor, vector: Vector) -> Vector:
    """Applies (B, 3, 3) matrices to vectors, in full float32 (see `scene.compose`)."""
    m = matrix_B33[:, :, :, None, None]
    x, y, z = vector
    return (
        m[:, 0, 0] * x + m[:, 0, 1] * y + m[:, 0, 2] * z,
        m[:, 1, 0] * x + m[:, 1, 1] * y + m[:, 1, 2] * z,
        m[:, 2, 0] * x + m[:, 2, 1] * y + m[:, 2, 2] * z,
    )


def _inverse(direction: Tensor) -> Tensor:
    return torch.where(direction.abs() < 1e-9, 1e-9, direction).reciprocal()


def cast_shell(scene: SceneBatch, rays: Rays) -> Hit:
    """Where rays from inside leave the shell.

    Returns:
        t (B, H, W), infinite where a ray meets the sky; and the face met, 0 to 5 as in `SceneBatch.shell_role`, int64.
    """
    origin, direction = rays
    best = face = None
    for axis in range(3):
        low = scene.shell_low[:, axis, None, None] - origin[axis]
        high = scene.shell_high[:, axis, None, None] - origin[axis]
        up = direction[axis] > 0
        t = torch.where(up, high, low) * _inverse(direction[axis])
        number = 2 * axis + up.long()
        if best is None or face is None:
            best, face = t, number
        else:
            face = torch.where(t < best, number, face)
            best = torch.minimum(t, best)
    assert best is not None
    assert face is not None
    sky = scene.outdoors[:, None, None] & (face != 2)
    return torch.where(sky, torch.inf, best), face


def _local(frame: Frame, rays: Rays) -> Rays:
    """Rays in the frame of a piece."""
    rotation_B33, origin_B3 = frame
    to_frame = rotation_B33.transpose(1, 2)
    (x, y, z), direction = rays
    shift = origin_B3[:, :, None, None]
    return rotate(to_frame, (x - shift[:, 0], y - shift[:, 1], z - shift[:, 2])), rotate(to_frame, direction)


def _numbers(values: Tensor) -> tuple[Tensor, ...]:
    """The entries of (B, ...) one by one, each (B, 1, 1)."""
    return values.reshape(len(values), -1, 1, 1).unbind(1)


def nearest_boxes(hit: Hit, rays: Rays, frame: Frame, shape: tuple[Tensor, ...], first: int) -> Hit:
    """Updates the nearest hit with N boxes of one piece.

    Args:
        hit: t (B, H, W) and primitive number (B, H, W) of the nearest hit so far.
        rays: Origin and direction in the world.
        frame: The piece's rotation to the world (B, 3, 3) and its origin (B, 3), metres.
        shape: Centres (B, N, 3) and half extents (B, N, 3), metres; zero for an absent box.
        first: Number of the first box.
    """
    t_best, number = hit
    origin, direction = _local(frame, rays)
    centre_BN3, half_BN3 = shape
    inverse = [_inverse(d) for d in direction]
    # (bound − origin)·inverse as bound·inverse − start: one pass per bound. The frame is the piece's own, so no large
    # numbers cancel here.
    start = [-o * i for o, i in zip(origin, inverse, strict=True)]
    lows, highs = _numbers(centre_BN3 - half_BN3), _numbers(centre_BN3 + half_BN3)
    for n in range(centre_BN3.shape[1]):
        a = [torch.addcmul(start[axis], inverse[axis], lows[3 * n + axis]) for axis in range(3)]
        b = [torch.addcmul(start[axis], inverse[axis], highs[3 * n + axis]) for axis in range(3)]
        low = [torch.minimum(a[axis], b[axis]) for axis in range(3)]
        high = [torch.maximum(a[axis], b[axis]) for axis in range(3)]
        near = torch.maximum(torch.maximum(low[0], low[1]), low[2])
        far = torch.minimum(torch.minimum(high[0], high[1]), high[2])
        # Strict: an absent box has near = far.
        met = (near < torch.minimum(far, t_best)) & (near > NEAR_CLIP_M)
        t_best = torch.where(met, near, t_best)
        number = torch.where(met, first + n, number)
    return t_best, number


def nearest_rounds(hit: Hit, rays: Rays, frame: Frame, shape: tuple[Tensor, ...], first: int) -> Hit:
    """As `nearest_boxes` for M round bodies; `shape` ends with their bulges (B, M).

    The chord is measured from the ray's closest approach to the axis: the textbook discriminant cancels in float32 when
    a thin pole is far away.
    """
    t_best, number = hit
    centre_BM3, half_BM3, bulge_BM = shape
    origin, direction = _local(frame, rays)
    # Divided by its half extents, a body is a unit ball or a cylinder of radius 1 and height 2.
    scale_BM3 = half_BM3.clamp_min(1e-6).reciprocal()
    centres, scales, bulges = _numbers(centre_BM3 * scale_BM3), _numbers(scale_BM3), _numbers(bulge_BM)
    presents = _numbers(half_BM3.amin(-1) > 0)
    for m in range(centre_BM3.shape[1]):
        k = bulges[m]
        o = [origin[i] * scales[3 * m + i] - centres[3 * m + i] for i in range(3)]
        d = [direction[i] * scales[3 * m + i] for i in range(3)]
        dd = (d[0] * d[0] + k * d[1] * d[1] + d[2] * d[2]).clamp_min(1e-12)
        middle = -(o[0] * d[0] + k * o[1] * d[1] + o[2] * d[2]) / dd
        q = [o[i] + middle * d[i] for i in range(3)]
        inside = 1 - (q[0] * q[0] + k * q[1] * q[1] + q[2] * q[2])
        chord = (inside.clamp_min(0) / dd).sqrt()
        inverse = _inverse(d[1])
        a, b = (-1 - o[1]) * inverse, (1 - o[1]) * inverse
        near = torch.maximum(middle - chord, torch.minimum(a, b))
        far = torch.minimum(middle + chord, torch.maximum(a, b))
        # A ray that misses has no chord, and near = far.
        met = (near < torch.minimum(far, t_best)) & (near > NEAR_CLIP_M) & presents[m]
        t_best = torch.where(met, near, t_best)
        number = torch.where(met, first + m, number)
    return t_best, number


def cast(scene: SceneBatch, rays: Rays, hit: Hit) -> Hit:
    """The nearest of the hits given and of all primitives.

    Args:
        scene: B scenes.
        rays: Origins in metres and directions in the world, each broadcastable to (B, H, W).
        hit: t and primitive number to start from, as from `cast_shell`.

    Returns:
        t (B, H, W) and the primitive's number: 0 to 5 the shell, then boxes piece by piece, then round bodies.
    """
    first = 6
    for kernel, pieces, count in zip((nearest_boxes, nearest_rounds), (scene.boxes, scene.rounds), (2, 3), strict=True):
        for k in range(pieces.origin.shape[1]):
            frame = (pieces.rotation[:, k], pieces.origin[:, k])
            shape = (pieces.centre[:, k], pieces.half[:, k], pieces.bulge[:, k])[:count]
            hit = kernel(hit, rays, frame, shape, first)
            first += pieces.centre.shape[2]
    return hit
