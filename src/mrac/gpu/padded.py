"""Statistics of readings that are padded to one number: `valid` says which there are. Nothing waits for the device."""

import torch
from torch import Tensor


def sum_of(values: Tensor, valid: Tensor) -> Tensor:
    """(..., 1) sum over the last axis."""
    return torch.where(valid, values, 0.0).sum(dim=-1, keepdim=True)


def mean_of(values: Tensor, valid: Tensor) -> Tensor:
    """(..., 1) mean over the last axis; 0 of none."""
    return sum_of(values, valid) / valid.sum(dim=-1, keepdim=True).clamp(min=1)


def least(values: Tensor, valid: Tensor) -> Tensor:
    """(..., 1) minimum over the last axis."""
    return torch.where(valid, values, torch.inf).amin(dim=-1, keepdim=True)


def most(values: Tensor, valid: Tensor) -> Tensor:
    """(..., 1) maximum over the last axis."""
    return torch.where(valid, values, -torch.inf).amax(dim=-1, keepdim=True)


def median_of(values: Tensor, valid: Tensor) -> Tensor:
    """(..., 1) median over the last axis: the mean of the middle two of an even number."""
    ordered = torch.where(valid, values, torch.inf).sort(dim=-1).values
    num = valid.expand_as(values).sum(dim=-1, keepdim=True).clamp(min=1)
    return 0.5 * (ordered.gather(-1, (num - 1) // 2) + ordered.gather(-1, num // 2))


def quantile_of(values: Tensor, valid: Tensor, share: float) -> Tensor:
    """(..., 1) quantile over the last axis, interpolated linearly as numpy does."""
    ordered = torch.where(valid, values, torch.inf).sort(dim=-1).values
    last = (valid.expand_as(values).sum(dim=-1, keepdim=True) - 1).clamp(min=0)
    at = share * last.to(values.dtype)
    low = at.floor().to(torch.int64)
    below, above = ordered.gather(-1, low), ordered.gather(-1, torch.minimum(low + 1, last))
    return torch.lerp(below, above, at - low)


def covered_area(positions_K2: Tensor, valid: Tensor) -> Tensor:
    """(...,) area over which (..., K, 2) positions are spread; see `mrac.gp.features.covered_area`."""
    num = valid.sum(dim=-1)
    u, v = ((part - mean_of(part, valid)) * valid for part in positions_K2.unbind(-1))
    uu, vv, uv = ((a * b).sum(dim=-1) / (num - 1).clamp(min=1) for a, b in ((u, u), (v, v), (u, v)))
    return 12.0 * (uu * vv - uv * uv).clamp(min=0.0).sqrt()


def first_of(there: Tensor, num: int) -> Tensor:
    """(B, num) the places of the first `num` of those that are `there` (B, K), in order; then of others."""
    return (~there).to(torch.int8).sort(dim=1, stable=True).indices[:, :num]


def taken(values: Tensor, which_BN: Tensor) -> Tensor:
    """(B, N, ...) of values (B, K, ...)."""
    index = which_BN.reshape(*which_BN.shape, *([1] * (values.dim() - 2)))
    return values.gather(1, index.expand(-1, -1, *values.shape[2:]))
