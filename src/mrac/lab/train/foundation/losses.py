"""Training losses on log depth, one function each. Pixels without ground truth have z_m = 0 and never count."""

import torch
from torch import Tensor
from torch.nn import functional


def log_target(z_BHW: Tensor) -> tuple[Tensor, Tensor]:
    """(B, H, W) log depth, 0 where unknown, and (B, H, W) float 1 where known."""
    known = (z_BHW > 0) & torch.isfinite(z_BHW)
    return torch.where(known, z_BHW, 1.0).log(), known.float()


def metric_l1(error_BHW: Tensor, known_BHW: Tensor) -> Tensor:
    """Mean |e| per image: a light hand that keeps the output near metres.

    Returns:
        (B,).
    """
    return (error_BHW.abs() * known_BHW).sum(dim=(1, 2)) / known_BHW.sum(dim=(1, 2)).clamp(min=1.0)


def sky_l1(predicted_BHW: Tensor, z_BHW: Tensor, least_B: Tensor) -> Tensor:
    """Mean amount by which the sky (z infinite) is nearer than `least_B`, in log depth; beyond that all is well.

    Returns:
        (B,); 0 without sky.
    """
    sky = z_BHW.isinf().float()
    short = functional.relu(least_B[:, None, None] - predicted_BHW)
    return (short * sky).sum(dim=(1, 2)) / sky.sum(dim=(1, 2)).clamp(min=1.0)


def bound_l1(predicted_BHW: Tensor, z_BHW: Tensor, canonical_B: Tensor) -> Tensor:
    """Mean amount by which pixels that are at least −z away (z < 0) are nearer than that, in log depth.

    Args:
        predicted_BHW: log depth.
        z_BHW: metres, those below 0 are bounds.
        canonical_B: added to the log of a bound, as to that of a depth.

    Returns:
        (B,); 0 without bounds.
    """
    bounded = (z_BHW < 0).float()
    least = torch.where(z_BHW < 0, -z_BHW, 1.0).log() + canonical_B[:, None, None]
    short = functional.relu(least - predicted_BHW)
    return (short * bounded).sum(dim=(1, 2)) / bounded.sum(dim=(1, 2)).clamp(min=1.0)


def shift_invariant_l1(error_BHW: Tensor, known_BHW: Tensor) -> Tensor:
    """Mean |e − mean e| per image: what stays wrong when the anchors have fixed the scale (one shift in log depth).

    Close to AbsRel after that fit, since |log ratio| ≈ relative error.

    Returns:
        (B,).
    """
    count = known_BHW.sum(dim=(1, 2)).clamp(min=1.0)
    mean = (error_BHW * known_BHW).sum(dim=(1, 2)) / count
    return ((error_BHW - mean[:, None, None]).abs() * known_BHW).sum(dim=(1, 2)) / count


def local_l1(error_BHW: Tensor, known_BHW: Tensor, num_tiles: int) -> Tensor:
    """`shift_invariant_l1` of each of some `num_tiles` tiles of an image, a tile counting by its known pixels.

    What stays wrong where as many readings have fixed the level of each neighbourhood; without that, a network spends
    itself on the layout of the whole room, which readings give anyway.

    Returns:
        (B,).
    """
    B, H, W = error_BHW.shape
    side = (H * W / num_tiles) ** 0.5
    rows, columns = max(1, round(H / side)), max(1, round(W / side))
    h, w = H // rows, W // columns

    def tiles(map_BHW: Tensor) -> Tensor:
        cut = map_BHW[:, : rows * h, : columns * w].reshape(B, rows, h, columns, w)
        return cut.transpose(2, 3).reshape(B * rows * columns, h, w)

    known = tiles(known_BHW)
    count = known.sum(dim=(1, 2)).view(B, -1)
    loss = shift_invariant_l1(tiles(error_BHW), known).view(B, -1)
    return (loss * count).sum(dim=1) / count.sum(dim=1).clamp(min=1.0)


def affine_invariant_l1(predicted_BHW: Tensor, target_BHW: Tensor, known_BHW: Tensor) -> Tensor:
    """Mean |a·p + b − t| per image with a, b the least-squares fit of that image (Ranftl et al. 2020, in log depth).

    Returns:
        (B,).
    """
    count = known_BHW.sum(dim=(1, 2), keepdim=True).clamp(min=1.0)
    p = (predicted_BHW - (predicted_BHW * known_BHW).sum(dim=(1, 2), keepdim=True) / count) * known_BHW
    t = (target_BHW - (target_BHW * known_BHW).sum(dim=(1, 2), keepdim=True) / count) * known_BHW
    # A flat prediction has no slope to fit; the small term keeps its gradient finite.
    slope = (p * t).sum(dim=(1, 2), keepdim=True) / ((p * p).sum(dim=(1, 2), keepdim=True) + 1e-3 * count)
    return ((slope * p - t).abs() * known_BHW).sum(dim=(1, 2)) / count[:, 0, 0]


def gradient_l1(error_BHW: Tensor, known_BHW: Tensor, num_scales: int = 4) -> Tensor:
    """Mean |∇e| over scales (Li & Snavely 2018): edges where edges are, flat where flat.

    Each scale halves the map; a coarse cell averages the known pixels in it.

    Returns:
        (B,).
    """
    total = torch.zeros(len(error_BHW), device=error_BHW.device)
    known = known_BHW[:, None]
    error = torch.where(known > 0.0, error_BHW[:, None], 0.0)  # not times a share: that would have an edge of its own
    for scale in range(num_scales):
        if scale:
            error, known = halve(error, known)
        for axis in (2, 3):
            both = known.narrow(axis, 1, known.shape[axis] - 1) * known.narrow(axis, 0, known.shape[axis] - 1)
            step = error.diff(dim=axis).abs() * both
            total = total + step.sum(dim=(1, 2, 3)) / both.sum(dim=(1, 2, 3)).clamp(min=1.0)
    return total


def halve(map_BCHW: Tensor, known_BCHW: Tensor) -> tuple[Tensor, Tensor]:
    """A map and what is known of it at half the size: a cell is the mean of the known pixels in it."""
    share = functional.avg_pool2d(known_BCHW, 2)
    mean = functional.avg_pool2d(map_BCHW * known_BCHW, 2) / share.clamp(min=1e-6)
    return mean, (share > 0).float()
