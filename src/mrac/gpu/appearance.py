"""Colour and regions of a batch of images on a device, and the features of readings; see `mrac.gp.features`."""

import numpy as np
import torch
from torch import Tensor, nn

from mrac.conventions import FloatArray
from mrac.gp.features import _EDGE, _SMOOTHNESS, _WEAKEST, LengthScales, cell_grid
from mrac.gp.kernel import FARTHEST
from mrac.gpu.foundation import as_planes, constant, to_bytes
from mrac.gpu.linear_algebra import inverse
from mrac.gpu.resampling import resize_matrix


class BatchAppearance(nn.Module):
    """Colour and regions of images of one size, and the features of readings.

    Args:
        shape: (H, W) of the images.

    Attributes:
        cells: (h, w) of colour and regions.
    """

    box_rows: Tensor
    box_columns: Tensor
    places: Tensor
    wide_columns: Tensor
    far: Tensor

    def __init__(self, shape: tuple[int, int]) -> None:
        super().__init__()
        H, W = self.shape = shape
        h, w = self.cells = cell_grid(H, W)
        lengths = LengthScales()
        self.per_px = per_pixel(shape)
        constant(self, "box_rows", resize_matrix(H, h, "box", of_bytes=True))
        constant(self, "box_columns", resize_matrix(W, w, "box", of_bytes=True).T)
        v, u = np.mgrid[0:h, 0:w]
        constant(self, "places", np.stack([(u + 0.5) * (W / w), (v + 0.5) * (H / h)]) / min(H, W))
        constant(self, "wide_columns", wide_matrix(w, W).T, torch.float32)
        constant(self, "far", np.array([lengths.colour] * 3 + [lengths.region] * 2)[:, None, None], torch.float32)

    def forward(self, images_BHW3: Tensor) -> Tensor:
        """(B, 5, h, w) float32 colour and regions of (B, H, W, 3) uint8 images, divided by their length scales."""
        pixels = as_planes(images_BHW3)
        red, green, blue = (to_bytes(self.box_rows @ to_bytes(pixels @ self.box_columns)) / 255.0).unbind(1)
        colour = torch.stack([(red + green + blue) / 3.0, red - green, (red + green) / 2.0 - blue], dim=1)
        regions = smooth_within_edges(self.places, colour)
        return torch.cat([colour, regions], dim=1).to(torch.float32) / self.far

    def at_readings(self, cells_B5hw: Tensor, uv_px_BK2: Tensor) -> Tensor:
        """(B, K, 7) float32 features without relative depth; between pixels, as bilinear reading gives them."""
        (H, W), h = self.shape, self.cells[0]
        wide = (cells_B5hw @ self.wide_columns).flatten(2)
        u, v = uv_px_BK2[..., 0].clamp(0.0, W - 1.0), uv_px_BK2[..., 1].clamp(0.0, H - 1.0)
        total = torch.zeros((), dtype=uv_px_BK2.dtype, device=uv_px_BK2.device)
        for row, in_row in _neighbours(v, H):
            at = ((row + 0.5) * (h / H) - 0.5).clamp(0.0, h - 1.0)
            above = at.to(torch.int64)
            for line, in_line in ((above, 1.0 - (at - above)), ((above + 1).clamp(max=h - 1), at - above)):
                for column, in_column in _neighbours(u, W):
                    value = wide.gather(2, (line * W + column)[:, None].expand(-1, 5, -1))
                    total = total + value * (in_row * in_line * in_column)[:, None]
        return torch.cat([uv_px_BK2 * self.per_px, total.mT], dim=2).to(torch.float32)


def per_pixel(shape: tuple[int, int]) -> float:
    """Position as a feature, for a pixel of images of `shape` (H, W).

    To the last bit as in the reference: it decides which of two readings as near as each other is the nearer.
    """
    return float(np.float32(1.0 / (LengthScales().position * min(shape))))


def wide_matrix(num_cells: int, width: int) -> FloatArray:
    """(width, num_cells) weights of the cells along an axis of `width` pixels."""
    return resize_matrix(num_cells, width, "bilinear")


def relative_feature(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Relative depth `x` as a feature, of any shape with the batch first, where its range is (B,) low to high."""
    per_length = 1.0 / (LengthScales().relative * (high - low)).clamp(min=1e-30)
    low, per_length = (part.reshape(-1, *([1] * (x.dim() - 1))) for part in (low, per_length))
    return ((x.to(torch.float64) - low) * per_length).clamp(-FARTHEST, FARTHEST).to(torch.float32)


def sample_bilinear(field_BHW: Tensor, uv_px_BK2: Tensor) -> Tensor:
    """(B, K) float64 values at sub-pixel positions; see `mrac.relative.sample_bilinear`."""
    H, W = field_BHW.shape[1:]
    u, v = uv_px_BK2[..., 0].clamp(0.0, W - 1.0), uv_px_BK2[..., 1].clamp(0.0, H - 1.0)
    flat = field_BHW.flatten(1)
    total = torch.zeros_like(u)
    for row, in_row in _neighbours(v, H):
        for column, in_column in _neighbours(u, W):
            total = total + flat.gather(1, row * W + column) * (in_row * in_column)
    return total


def _neighbours(at: Tensor, size: int) -> tuple[tuple[Tensor, Tensor], ...]:
    """The two pixels around positions along one axis, and the weight of each."""
    first = at.to(torch.int64).clamp(max=max(size - 2, 0))
    share = at - first
    return (first, 1.0 - share), ((first + 1).clamp(max=size - 1), share)


def smooth_within_edges(fields_nhw: Tensor, guide_Bchw: Tensor) -> Tensor:
    """(B, n, h, w) edge-preserving smoothing of fields; see `mrac.gp.features.smooth_within_edges`.

    The banded system is block tridiagonal, one block a column of cells.
    """
    if fields_nhw.shape[1] > fields_nhw.shape[2]:  # blocks along the short side
        return smooth_within_edges(fields_nhw.mT, guide_Bchw.mT).mT
    B, (h, w) = len(guide_Bchw), fields_nhw.shape[1:]
    if h * w == 1:
        return fields_nhw.expand(B, -1, -1, -1)
    down, right = _smoothness(guide_Bchw.diff(dim=2)), _smoothness(guide_Bchw.diff(dim=3))  # (B, h-1, w), (B, h, w-1)
    pad = nn.functional.pad
    own = 1.0 + pad(down, (0, 0, 0, 1)) + pad(down, (0, 0, 1, 0)) + pad(right, (0, 1)) + pad(right, (1, 0))
    within = torch.diag_embed(own.mT)
    if h > 1:
        beside = torch.diag_embed(down.mT, offset=1)
        within = within - beside - beside.mT
    known = fields_nhw.permute(2, 1, 0).expand(B, -1, -1, -1)
    return solve_block_tridiagonal(within, -torch.diag_embed(right.mT), known).permute(0, 3, 2, 1)


def _smoothness(difference: Tensor) -> Tensor:
    return _SMOOTHNESS * torch.exp(-(difference**2).sum(dim=1).sqrt() / _EDGE).clamp(min=_WEAKEST)


def solve_block_tridiagonal(within: Tensor, across: Tensor, known: Tensor) -> Tensor:
    """Solves a symmetric positive definite block tridiagonal system by cyclic reduction: log₂ n rounds, each parallel.

    Args:
        within: (B, n, s, s) blocks of the diagonal.
        across: (B, n − 1, s, s) blocks above it, between each and the next.
        known: (B, n, s, r) right-hand sides.

    Returns:
        (B, n, s, r).
    """
    n, s = within.shape[1:3]
    if n == 1:
        return inverse(within) @ known
    num = n // 2  # blocks 1, 3, 5 … are eliminated; the last has no block after it where n is even
    if n % 2 == 0:
        across = torch.cat([across, torch.zeros_like(across[:, :1])], dim=1)
    before, after = across[:, 0::2], across[:, 1::2]  # from the block before to each, and from each to the next
    solved = inverse(within[:, 1::2]) @ torch.cat([before.mT, after, known[:, 1::2]], dim=3)
    change = torch.cat([before, after.mT], dim=2) @ solved
    to_left, to_right = change[:, :, :s], change[:, : (n - 1) // 2, s:]
    left = (within[:, 0::2].clone(), known[:, 0::2].clone())
    left[0][:, :num] -= to_left[..., :s]
    left[1][:, :num] -= to_left[..., 2 * s :]
    left[0][:, 1:] -= to_right[..., s : 2 * s]
    left[1][:, 1:] -= to_right[..., 2 * s :]
    evens = solve_block_tridiagonal(left[0], -to_left[:, : (n - 1) // 2, :, s : 2 * s], left[1])
    following = torch.cat([evens[:, 1:], torch.zeros_like(evens[:, :1])], dim=1)[:, :num]
    odds = solved[..., 2 * s :] - solved[..., :s] @ evens[:, :num] - solved[..., s : 2 * s] @ following
    out = torch.empty_like(known, memory_format=torch.contiguous_format)
    out[:, 0::2], out[:, 1::2] = evens, odds
    return out
