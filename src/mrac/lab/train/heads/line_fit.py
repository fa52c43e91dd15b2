"""The closed-form fit of a whole minibatch at once: what `fit/ols` gives image by image, on the device."""

import torch
from torch import Tensor

from mrac.fit.base import PRIOR_DEPTH_M
from mrac.space import Space, to_space


def fit_lines(x_BK: Tensor, z_BK: Tensor, kept_BK: Tensor, space: Space, native: bool = True) -> tuple[Tensor, Tensor]:
    """Least squares y = scale · x + shift per image; the rules of `mrac.fit.base.Fit` where there is no line.

    Args:
        x_BK: (B, K) relative values at the anchors.
        z_BK: (B, K) metres, > 0 where kept.
        kept_BK: (B, K) bool, the anchors that count.
        space: of y.
        native: whether x itself is of that space, see `Samples.native`.

    Returns:
        (B,) scale and (B,) shift, float64, finite.
    """
    x = torch.where(kept_BK, x_BK, 0.0).double()
    y = _to_space(torch.where(kept_BK, z_BK, 1.0).double(), space) * kept_BK
    num = kept_BK.sum(dim=1).double()
    x_mean, y_mean = (values.sum(dim=1) / num.clamp(min=1.0) for values in (x, y))
    # Centred sums: relative fields run into the thousands and raw second moments would cancel.
    dx, dy = ((x - x_mean[:, None]) * kept_BK, (y - y_mean[:, None]) * kept_BK)
    spread = (dx * dx).sum(dim=1)
    scale = (dx * dy).sum(dim=1) / torch.where(spread > 0.0, spread, 1.0)
    line = scale, y_mean - scale * x_mean
    impossible = native & (num == 2) & (scale <= 0.0)
    undetermined = (num < 2) | _flat(x, kept_BK) | impossible
    one = _one_unknown(_median(x, kept_BK), _median(y, kept_BK), space, native)
    none = torch.zeros_like(scale), torch.full_like(scale, float(to_space(PRIOR_DEPTH_M, space)))
    settled = (torch.where(undetermined, a, b) for a, b in zip(one, line, strict=True))
    first, second = (torch.where(num == 0, a, b) for a, b in zip(none, settled, strict=True))
    return first, second


def _to_space(z: Tensor, space: Space) -> Tensor:
    if space == "inverse_depth":
        return z.reciprocal()
    return z.log() if space == "log_depth" else z


def _flat(x_BK: Tensor, kept_BK: Tensor) -> Tensor:
    """(B,) as `Samples.flat`."""
    high = torch.where(kept_BK, x_BK, -torch.inf).amax(dim=1)
    low = torch.where(kept_BK, x_BK, torch.inf).amin(dim=1)
    return high - low <= (1e-9 * torch.maximum(high.abs(), low.abs())).clamp(min=1e-30)


def _median(values_BK: Tensor, kept_BK: Tensor) -> Tensor:
    """(B,) of the kept values, the mean of the middle two as numpy has it; 0 without any."""
    ordered = torch.where(kept_BK, values_BK, torch.inf).sort(dim=1).values
    num = kept_BK.sum(dim=1, keepdim=True)
    low, high = (ordered.gather(1, (n // 2).clamp(min=0)) for n in (num - 1, num))
    return torch.where(num > 0, (low + high) / 2, 0.0)[:, 0]


def _one_unknown(x_B: Tensor, y_B: Tensor, space: Space, native: bool) -> tuple[Tensor, Tensor]:
    """As `mrac.fit.base` settles a scene that fixes one number only."""
    if not native:
        return torch.zeros_like(x_B), y_B
    if space == "log_depth":
        return torch.ones_like(x_B), y_B - x_B
    usable = x_B > 1e-30
    scale = torch.where(usable, y_B / torch.where(usable, x_B, 1.0), 0.0)
    return scale, torch.where(usable, 0.0, y_B)
