"""Batches of small covariances on a device: inverse Cholesky factors, inverses, leave-one-out residuals.

Nothing here waits for the device: the libraries' own checks, which would read a result back, are left out.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Self

import torch
from torch import Tensor

from mrac.gpu import kernels

_own = False


def inverse_root(total: Tensor) -> Tensor:
    """(..., K, K) lower triangular W of each symmetric positive definite matrix A, with Wᵀ W = A⁻¹."""
    if _own and total.shape[-1] <= kernels.MAX_SIZE:
        own: Tensor = kernels.invert(total, root=True)
        return own
    lower = torch.linalg.cholesky_ex(total, check_errors=False).L
    identity = torch.eye(total.shape[-1], dtype=total.dtype, device=total.device).expand_as(lower)
    root: Tensor = torch.linalg.solve_triangular(lower, identity, upper=False)
    return root


def inverse(total: Tensor) -> Tensor:
    """(..., K, K) inverses of symmetric positive definite matrices."""
    if _own and total.shape[-1] <= kernels.MAX_SIZE:
        own: Tensor = kernels.invert(total, root=False)
        return own
    root = inverse_root(total)
    return root.mT @ root


@contextmanager
def own_kernels(use: bool) -> Iterator[None]:
    """Whether inverses are those of `mrac.gpu.kernels`, on a GPU, in what is computed or recorded inside."""
    global _own  # noqa: PLW0603  (torch.compile sees a global, and no context variable)
    before, _own = _own, use
    try:
        yield
    finally:
        _own = before


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

    def leave_out(
        self, inverse_QSKK: Tensor, solved_QSK: Tensor, wanted: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """(Q, S, D) residual of each reading given those that are not members, and its variance.

        Args:
            inverse_QSKK: of the covariance, of S hypotheses.
            solved_QSK: inverse · error.
            wanted: (Q, D) which results are looked at; None is all.
        """
        S, (D, M) = inverse_QSKK.shape[1], self.members.shape[1:]
        if _own:
            wanted = torch.ones_like(self.there[..., 0]) if wanted is None else wanted
            residual, var = kernels.leave_out(inverse_QSKK, solved_QSK, self.members, self.there, wanted)
            return residual, var
        block = inverse_QSKK.flatten(2).gather(2, self.entries[:, None].expand(-1, S, -1)).reshape(-1, S, D, M, M)
        solved = solved_QSK.gather(2, self.members.flatten(1)[:, None].expand(-1, S, -1)).reshape(-1, S, D, M)
        there = self.there[:, None].expand(-1, S, -1, -1)
        # With the reading the last of its block, the end of forward substitution is all that is needed.
        lower = torch.linalg.cholesky_ex(without_padding(block, there), check_errors=False).L
        end = torch.linalg.solve_triangular(lower, (solved * there)[..., None], upper=False)[..., -1, 0]
        own = 1.0 / lower[..., -1, -1]
        return end * own, own * own
