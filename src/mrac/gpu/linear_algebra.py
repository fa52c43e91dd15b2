"""Batches of small covariances on a device: inverse Cholesky factors, inverses, leave-one-out residuals.

Nothing here waits for the device: the libraries' own checks, which would read a result back, are left out.
"""

from typing import NamedTuple, Self

import torch
from torch import Tensor

from mrac.gpu.kernels.small_matrices import MAX_SIZE, invert
from mrac.gpu.kernels.source import in_use


def inverse_root(total: Tensor) -> Tensor:
    """(..., K, K) lower triangular W of each symmetric positive definite matrix A, with Wᵀ W = A⁻¹."""
    if in_use() and total.shape[-1] <= MAX_SIZE:
        return invert(total, root=True)
    lower = torch.linalg.cholesky_ex(total, check_errors=False).L
    identity = torch.eye(total.shape[-1], dtype=total.dtype, device=total.device).expand_as(lower)
    root: Tensor = torch.linalg.solve_triangular(lower, identity, upper=False)
    return root


def inverse(total: Tensor) -> Tensor:
    """(..., K, K) inverses of symmetric positive definite matrices."""
    if in_use() and total.shape[-1] <= MAX_SIZE:
        return invert(total, root=False)
    root = inverse_root(total)
    return root.mT @ root


def without_padding(total: Tensor, valid: Tensor) -> Tensor:
    """(..., K, K) matrices in which the rows and columns of what is not `valid` (..., K) are those of the identity."""
    both = valid[..., :, None] & valid[..., None, :]
    return torch.where(both, total, 0.0) + torch.diag_embed((~valid).to(total.dtype))


def leave_one_out(inverse_KK: Tensor, error_K: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(..., K) residual given the others, its variance, and inverse · error: see `mrac.gp.linear_algebra`."""
    var = 1.0 / torch.diagonal(inverse_KK, dim1=-2, dim2=-1)
    solved = (inverse_KK @ error_K[..., None])[..., 0]
    return solved * var, var, solved


class Blocks(NamedTuple):
    """For D of K readings, the M readings that are left out with each: itself, the last, and others near it.

    Attributes:
        which: (Q, D) the readings.
        there: (Q, D, M) which of the members are meant.
        members: (Q, D, M) readings.
        entries: (Q, D · M · M) places of the blocks' numbers in a (K, K) matrix, row by row.
    """

    which: Tensor
    there: Tensor
    members: Tensor
    entries: Tensor

    @classmethod
    def of(cls, which: Tensor, members: Tensor, there: Tensor, num: int) -> Self:
        """From the first three, for `num` readings."""
        entries = members[..., :, None] * num + members[..., None, :]
        return cls(which, there, members, entries.flatten(1))

    def leave_out(self, inverse_QSKK: Tensor, solved_QSK: Tensor) -> tuple[Tensor, Tensor]:
        """(Q, S, D) residual of each reading given those that are not members, and its variance.

        Args:
            inverse_QSKK: of the covariance, of S hypotheses.
            solved_QSK: inverse · error.
        """
        S, (D, M) = inverse_QSKK.shape[1], self.members.shape[1:]
        block = inverse_QSKK.flatten(2).gather(2, self.entries[:, None].expand(-1, S, -1)).reshape(-1, S, D, M, M)
        solved = solved_QSK.gather(2, self.members.flatten(1)[:, None].expand(-1, S, -1)).reshape(-1, S, D, M)
        there = self.there[:, None].expand(-1, S, -1, -1)
        # With the reading the last of its block, the end of forward substitution is all that is needed.
        lower = torch.linalg.cholesky_ex(without_padding(block, there), check_errors=False).L
        end = torch.linalg.solve_triangular(lower, (solved * there)[..., None], upper=False)[..., -1, 0]
        own = 1.0 / lower[..., -1, -1]
        return end * own, own * own
