"""The nodes of a grid over a batch of images, at which the head predicts: their features, and the way to the pixels.

How far apart they are depends on the number of readings of the head, which is known on the device alone. So the tables
of every step that may occur are there, padded to the finest grid, and each frame looks up its own.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from mrac.conventions import FloatArray
from mrac.gpu.appearance import per_pixel, relative_feature, wide_matrix
from mrac.gpu.foundation import constant
from mrac.gpu.resampling import node_matrix, row_matrix


class BatchNodes(nn.Module):
    """Nodes at every `step`th pixel of images of one size, for each step of a list.

    Args:
        shape: (H, W) of the images.
        cells: (h, w) of their appearance.
        steps: pixels between nodes, each another number.

    Attributes:
        grids: (rows, columns) of nodes by step.
        grid: that of the finest, to which the others are padded.
    """

    rows: Tensor
    columns: Tensor
    pixel: Tensor
    position: Tensor
    up_rows: Tensor
    up_columns: Tensor

    def __init__(self, shape: tuple[int, int], cells: tuple[int, int], steps: Sequence[int]) -> None:
        super().__init__()
        self.steps, (H, W), (h, w) = tuple(steps), shape, cells
        self.grids = [node_grid(shape, step) for step in steps]
        R, C = self.grid = max(g[0] for g in self.grids), max(g[1] for g in self.grids)
        down, right = ([np.minimum(s * np.arange(n), last) for s in steps] for n, last in ((R, H - 1), (C, W - 1)))
        wide = wide_matrix(w, W)
        constant(self, "rows", np.stack([row_matrix(at, H, h) for at in down]), torch.float32)
        constant(self, "columns", np.stack([wide[at].T for at in right]), torch.float32)
        at = [v[:, None] * W + u for v, u in zip(down, right, strict=True)]
        constant(self, "pixel", np.stack(at), torch.int64)
        v, u = (np.stack([step * np.arange(n) for step in steps]) * per_pixel(shape) for n in (R, C))
        position = np.stack(np.broadcast_arrays(u[:, None], v[:, :, None]), axis=1)
        constant(self, "position", position, torch.float32)
        up = [(_padded(node_matrix(H, s, r), R), _padded(node_matrix(W, s, c), C).T) for s, (r, c) in self._own()]
        constant(self, "up_rows", np.stack([one for one, _ in up]), torch.float32)
        constant(self, "up_columns", np.stack([one for _, one in up]), torch.float32)

    def features(
        self, which_B: Tensor, cells_B5hw: Tensor, relative_BHW: Tensor, ends: tuple[Tensor, Tensor]
    ) -> Tensor:
        """(B, rows · columns, NUM_FEATURES) float32.

        Args:
            which_B: the number of each frame's step.
            cells_B5hw: appearance of the images.
            relative_BHW: relative depth.
            ends: (B,) and (B,) its range.
        """
        B = len(cells_B5hw)
        seen = self._of("rows", which_B) @ (cells_B5hw @ self._of("columns", which_B))
        pixel = self._of("pixel", which_B).reshape(-1, self.grid[0] * self.grid[1]).expand(B, -1)
        relative = relative_feature(relative_BHW.flatten(1).gather(1, pixel), *ends).reshape(B, 1, *self.grid)
        position = self.position[0].expand(B, -1, -1, -1) if self._single else self.position[which_B]
        return torch.cat([position, seen, relative], dim=1).flatten(2).mT.contiguous()

    def to_pixels(self, which_B: Tensor, values_BnN: Tensor) -> Tensor:
        """(B, n, H, W) of n values at the nodes, upsampled bilinearly."""
        grids = values_BnN.reshape(*values_BnN.shape[:2], *self.grid)
        return self._of("up_rows", which_B) @ (grids @ self._of("up_columns", which_B))

    @property
    def _single(self) -> bool:
        return len(self.steps) == 1

    def _own(self) -> list[tuple[int, tuple[int, int]]]:
        return list(zip(self.steps, self.grids, strict=True))

    def _of(self, name: str, which_B: Tensor) -> Tensor:
        """A table of every frame's step: (n, m) where there is but one, else (B, 1, n, m)."""
        table: Tensor = getattr(self, name)
        return table[0] if self._single else table[which_B][:, None]


def node_grid(shape: tuple[int, int], step: int) -> tuple[int, int]:
    """(rows, columns) of nodes at every `step`th pixel of an image of `shape`."""
    return -(-(shape[0] - 1) // step) + 1, -(-(shape[1] - 1) // step) + 1


def _padded(weights: FloatArray, num: int) -> FloatArray:
    return np.pad(weights, ((0, 0), (0, num - weights.shape[1])))
