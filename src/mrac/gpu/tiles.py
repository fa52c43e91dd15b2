"""Kriging with many readings for a batch of frames on a device: tile by tile, blended; see `mrac.head._tiles`.

How many tiles there are and how large they are depends on the number of readings, which is known on the device alone:
it is looked up in tables, and tiles are padded to the most and the largest that may occur.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from mrac.gp.kernel import RELATIVE
from mrac.gpu.foundation import constant
from mrac.gpu.kernels import process as kernels
from mrac.gpu.kernels.source import in_use
from mrac.gpu.linear_algebra import inverse_root, without_padding
from mrac.gpu.nodes import BatchNodes
from mrac.gpu.padded import taken
from mrac.gpu.process import process_covariance
from mrac.head._tiles import NUM_NEAREST, NUM_SPREAD, layout

_MAX_COVARIANCES: Final = 1 << 28  # of nodes with readings at a time, 1 GB: more frames are predicted one after another


class Observed(NamedTuple):
    """What the process is conditioned on: padded readings of B frames.

    Attributes:
        uv_px: (B, K, 2) float64.
        features: (B, K, NUM_FEATURES) float32.
        noise_var: (B, K) float64, in units of the amplitude's square.
        residual: (B, K) float64, 0 where there is none.
        there: (B, K) which there are.
    """

    uv_px: Tensor
    features: Tensor
    noise_var: Tensor
    residual: Tensor
    there: Tensor


class Predicted(NamedTuple):
    """At N nodes: mean and explained variance (B, N) float32; (B,) the readings' squared Mahalanobis length."""

    mean: Tensor
    explained: Tensor
    length2: Tensor


class Conditioned(NamedTuple):
    """Q processes, each conditioned on M readings: weights (Q, M, 1), whitener (Q, M, M) float32, length² (Q,)."""

    weights: Tensor
    whitener: Tensor
    length2: Tensor


def conditioned(features_QMF: Tensor, noise_var: Tensor, residual: Tensor, there: Tensor) -> Conditioned:
    """See `mrac.gp.posterior.posterior`; of readings that are not `there` (Q, M) weight and whitener are as of none."""
    features = features_QMF.double()
    total = process_covariance(features, features) + torch.diag_embed(noise_var)
    whitener = inverse_root(without_padding(total, there))
    white = (whitener @ residual[..., None])[..., 0]
    return Conditioned((whitener.mT @ white[..., None]).float(), whitener.float(), (white * white).sum(dim=1))


def predict(nodes_QNF: Tensor, features_QMF: Tensor, there_QM: Tensor, given: Conditioned) -> tuple[Tensor, Tensor]:
    """(Q, N) mean and explained variance at the nodes; see `mrac.gp.posterior.predict`."""
    if in_use():
        mean, explained = kernels.predict(nodes_QNF, features_QMF, there_QM, given.weights, given.whitener)
        return mean, explained
    between = process_covariance(nodes_QNF, features_QMF) * there_QM[:, None].float()
    return (between @ given.weights)[..., 0], (between @ given.whitener.mT).square().sum(dim=2)


class BatchTiles(nn.Module):
    """`mrac.head._tiles.predict_tiled` for frames of `first` to `last` readings.

    Args:
        nodes: with the steps of all these numbers.
        step_of: the number among `nodes.steps` of the step of each number of readings, from `first` on.
        first: the fewest readings; what comes out for a frame of fewer is finite, and to be thrown away.
    """

    which: Tensor
    step: Tensor
    side: Tensor
    rows: Tensor
    columns: Tensor
    down: Tensor
    right: Tensor

    def __init__(self, nodes: BatchNodes, step_of: list[int], first: int) -> None:
        super().__init__()
        self.nodes, self.first = nodes, first
        found = np.array([layout(first + i, nodes.grids[step]) for i, step in enumerate(step_of)])
        tables = {"which": step_of, "step": [nodes.steps[s] for s in step_of]}
        for name, values in {**tables, **dict(zip(("side", "rows", "columns"), found.T, strict=True))}.items():
            constant(self, name, np.asarray(values), torch.int64)
        self.num_tiles, self.reach = int((found[:, 1] * found[:, 2]).max()), int(found[:, 0].max()) - 1
        offset = np.arange(-self.reach, self.reach + 1)
        constant(self, "down", np.repeat(offset, offset.size), torch.int64)
        constant(self, "right", np.tile(offset, offset.size), torch.int64)

    def of(self, num_B: Tensor) -> "Layout":
        """The tiles of frames of so many readings."""
        at = (num_B - self.first).clamp(0, len(self.side) - 1)
        return Layout(*(table[at][:, None] for table in (self.which, self.step, self.side, self.rows, self.columns)))

    def forward(self, observed: Observed, layout_B: "Layout", nodes_BNF: Tensor) -> Predicted:
        """The process at the nodes of every frame."""
        tile = torch.arange(self.num_tiles, device=nodes_BNF.device)
        members, there = self._members(observed, layout_B, tile)
        (B, T, M), N = members.shape, nodes_BNF.shape[1]
        features, noise_var, residual = (
            taken(part, members.flatten(1)).reshape(B * T, M, *part.shape[2:])
            for part in (observed.features, observed.noise_var, observed.residual)
        )
        there = there.flatten(0, 1)
        given = conditioned(features, noise_var, torch.where(there, residual, 0.0), there)
        per_reading = (given.length2 / there.sum(dim=1).clamp(min=1)).reshape(B, T)
        num_tiles = layout_B.rows * layout_B.columns
        mean_length2 = torch.where(tile < num_tiles, per_reading, 0.0).sum(dim=1) / num_tiles[:, 0]
        near = self._patches(layout_B, tile)
        parts = []
        for some in self._in_turn(B):
            of_tiles = slice(some.start * T, some.stop * T)
            points = taken(nodes_BNF[some], near[some].flatten(1)).reshape(-1, near.shape[2], RELATIVE + 1)
            own = Conditioned(*(part[of_tiles] for part in given))
            parts.append(torch.stack(predict(points, features[of_tiles], there[of_tiles], own)))
        mean, explained = torch.cat(parts, dim=1).reshape(2, B, -1)
        corners = list(self._corners(layout_B, torch.arange(N, device=tile.device)))
        mean, explained = (
            torch.stack([hat * part.gather(1, at) for at, hat in corners]).sum(dim=0) for part in (mean, explained)
        )
        return Predicted(mean, explained, mean_length2 * observed.there.sum(dim=1))

    def _in_turn(self, num_frames: int) -> list[slice]:
        per_frame = self.num_tiles * len(self.down) * (NUM_NEAREST + NUM_SPREAD)
        at_once = max(1, _MAX_COVARIANCES // per_frame)
        return [slice(i, min(i + at_once, num_frames)) for i in range(0, num_frames, at_once)]

    def _members(self, observed: Observed, layout_B: "Layout", tile_T: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, NUM_NEAREST + NUM_SPREAD) readings of each tile, and which of them are meant."""
        apart = layout_B.side * layout_B.step
        u, v = (tile_T % layout_B.columns) * apart, (tile_T // layout_B.columns) * apart
        square = (observed.uv_px[:, None, :, 0] - u[..., None]) ** 2 + (
            observed.uv_px[:, None, :, 1] - v[..., None]
        ) ** 2
        ordered = torch.where(observed.there[:, None], square, torch.inf).sort(dim=2, stable=True)
        nearest, near = ordered.indices[..., :NUM_NEAREST], ordered.values[..., :NUM_NEAREST] < torch.inf
        spread = farthest_points(observed.uv_px, observed.there)
        repeated = ((spread[:, None, :, None] == nearest[:, :, None]) & near[:, :, None]).any(dim=3)
        far = ~repeated & observed.there.gather(1, spread)[:, None]
        spread = spread[:, None].expand(-1, len(tile_T), -1)
        return torch.cat([nearest, spread], dim=2), torch.cat([near, far], dim=2)

    def _patches(self, layout_B: "Layout", tile_T: Tensor) -> Tensor:
        """(B, T, P) the nodes that each tile may reach; where there is no such node, another one."""
        R, C = self.nodes.grid
        row = (tile_T // layout_B.columns * layout_B.side)[..., None] + self.down
        column = (tile_T % layout_B.columns * layout_B.side)[..., None] + self.right
        return row.clamp(0, R - 1) * C + column.clamp(0, C - 1)

    def _corners(self, layout_B: "Layout", node_N: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """For each of the four tiles around a node: (B, N) its place in the patches, and the tile's hat function."""
        C, width = self.nodes.grid[1], 2 * self.reach + 1
        row, column, side = node_N // C, node_N % C, layout_B.side
        for i in (0, 1):
            tile_row = torch.minimum(row // side + i, layout_B.rows - 1)
            down = row - tile_row * side
            for j in (0, 1):
                tile_column = torch.minimum(column // side + j, layout_B.columns - 1)
                right = column - tile_column * side
                hat = _hat(row - (row // side + i) * side, side) * _hat(column - (column // side + j) * side, side)
                tile = tile_row * layout_B.columns + tile_column
                at = (down.clamp(-self.reach, self.reach) + self.reach) * width
                at = at + right.clamp(-self.reach, self.reach) + self.reach
                yield tile * (width * width) + at, hat


class Layout(NamedTuple):
    """Tiles of B frames, (B, 1) each: number of the step, the step in pixels, side in nodes, rows and columns."""

    which: Tensor
    step: Tensor
    side: Tensor
    rows: Tensor
    columns: Tensor


def _hat(offset: Tensor, side: Tensor) -> Tensor:
    return 1.0 - offset.abs().float() / side.float()


def farthest_points(uv_px_BK2: Tensor, there_BK: Tensor) -> Tensor:
    """(B, NUM_SPREAD) readings, each farthest from those before it, from the first on; of equals the first."""
    gap = torch.where(there_BK, torch.inf, -torch.inf).double()
    u, v = uv_px_BK2.unbind(2)
    chosen = [gap.argmax(dim=1, keepdim=True)]
    for _ in range(1, NUM_SPREAD):
        last = chosen[-1]
        gap = torch.minimum(gap, (u - u.gather(1, last)) ** 2 + (v - v.gather(1, last)) ** 2)
        chosen.append(gap.argmax(dim=1, keepdim=True))
    return torch.cat(chosen, dim=1)
