"""The fit `evidence` for a batch of frames on a device, for a field of log depth."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from mrac.fit._relations import _MAX_BEND, _MAX_SLOPE, relations
from mrac.fit.base import PRIOR_DEPTH_M
from mrac.fit.evidence import _KNOTS, _MAX_STD, _NEGLIGIBLE, _POINTS, _TYPICAL, _ZOOMS, Evidence
from mrac.gpu.dealing import MAX_FITTED, fitted_table
from mrac.gpu.foundation import constant
from mrac.gpu.linear_algebra import inverse_root, without_padding
from mrac.gpu.padded import first_of, least, median_of, most, taken
from mrac.gpu.process import process_covariance, student_t_log_density


class Readings(NamedTuple):
    """Padded readings of B frames.

    Attributes:
        uv_px: (B, K, 2) float64.
        log_z: (B, K) float64.
        x: (B, K) float64 relative depth.
        features: (B, K, 7) float32, without relative depth.
        valid: (B, K) which there are.
        weight: (B, K) float64.
        use_relative: (B,) whether relative depth is used.
    """

    uv_px: Tensor
    log_z: Tensor
    x: Tensor
    features: Tensor
    valid: Tensor
    weight: Tensor
    use_relative: Tensor


class Curve(NamedTuple):
    """Log depth as a piecewise linear function of relative depth, one for each of B frames.

    Attributes:
        low: (B,) relative depth at which u is 0.
        high: (B,) and 1.
        knots: (N,) u, increasing.
        log_depth: (B, N) at the knots.
    """

    low: Tensor
    high: Tensor
    knots: Tensor
    log_depth: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Log depth at `x`, any shape with the batch first: float64, extrapolated straight."""
        shape, x = x.shape, x.flatten(1).double()
        u = (x - self.low[:, None]) / (self.high - self.low)[:, None]
        last = len(self.knots) - 2
        at = torch.searchsorted(self.knots, u.detach(), right=True).sub_(1).clamp_(0, last)
        slope = self.log_depth.diff(dim=1) / self.knots.diff()
        return (self.log_depth.gather(1, at) + slope.gather(1, at) * (u - self.knots[at])).reshape(shape)


class BatchFit(nn.Module):
    """`mrac.fit.evidence.Evidence` at its defaults, for fields of log depth.

    Args:
        max_anchors: the most readings of a frame.
    """

    fitted: Tensor
    knots: Tensor
    grid: Tensor
    power: Tensor
    sign: Tensor
    log_prior: Tensor
    declared: Tensor

    def __init__(self, max_anchors: int) -> None:
        super().__init__()
        self.fit = Evidence()
        constant(self, "fitted", fitted_table(max_anchors), torch.bool)
        found = relations("log_depth", True, 0.0, 1.0, self.fit)
        # The first has the field's own contrast, the others that of the prior: see `_contrasts`.
        assert [r.own for r in found] == [True] + [False] * (len(found) - 1)
        assert not any(r.of_log for r in found)
        constant(self, "knots", _KNOTS)
        constant(self, "grid", np.linspace(0.0, 1.0, _POINTS))
        constant(self, "power", np.array([r.power for r in found])[:, None, None])
        constant(self, "sign", np.array([1.0 if r.rising else -1.0 for r in found]))
        constant(self, "log_prior", np.log([r.probability for r in found]))
        constant(self, "declared", np.array([r.declared for r in found]), torch.bool)

    def forward(self, readings: Readings, there: Tensor, relative_BK: Tensor, x_range: Tensor) -> Curve:
        """The relation from relative depth to log depth; a constant where relative depth is not used.

        Args:
            readings: of B frames.
            there: (B, K) which of them are fitted.
            relative_BK: float32, relative depth as a feature.
            x_range: (B, 2) typical range of the fields.
        """
        x, log_z = readings.x, readings.log_z
        features = torch.cat([readings.features, relative_BK[..., None]], dim=2)
        num = there.sum(dim=1)
        nearest, farthest = least(x, there)[:, 0], most(x, there)[:, 0]
        stated = (x_range[:, 1] - x_range[:, 0]) > _TYPICAL * (farthest - nearest)
        low, high = torch.where(stated, x_range[:, 0], nearest), torch.where(stated, x_range[:, 1], farthest)
        flat = (farthest - nearest) <= (1e-9 * most(x.abs(), there)[:, 0]).clamp(min=1e-30)
        simple = flat | (num < 2) | ~readings.use_relative
        low, high = torch.where(simple, 0.0, low), torch.where(simple, 1.0, high)
        some = self._some(there, x, (features, torch.where(there, x, 0.0), log_z, readings.weight))
        averaged = self._averaged(*some, low, high)
        # One unknown, the shift: from the medians, or without a reading from a room of the prior's depth.
        middle = torch.where(num > 0, median_of(x, there)[:, 0], x_range.mean(dim=1))
        level = torch.where(num > 0, median_of(log_z, there)[:, 0], float(np.log(PRIOR_DEPTH_M)))
        line = torch.where(readings.use_relative[:, None], self.knots + (level - middle)[:, None], level[:, None])
        return Curve(low, high, self.knots, torch.where(simple[:, None], line, averaged))

    def _some(
        self, there: Tensor, x: Tensor, values: tuple[Tensor, Tensor, Tensor, Tensor]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """`values` (B, K, ...) of the readings that a curve is fitted to, and which there are; see `Evidence.solve`.

        The number of fitted readings is known on the device alone, and with it which of them are used.
        """
        if there.shape[1] <= MAX_FITTED - 2:
            return *values, there
        place = (there.cumsum(dim=1) - 1).clamp(min=0)
        used = self.fitted[there.sum(dim=1)].gather(1, place)
        # The ends determine a curve best; of equals the first, as the reference.
        for at in (torch.where(there, x, torch.inf).argmin(dim=1), torch.where(there, x, -torch.inf).argmax(dim=1)):
            used = used.scatter(1, at[:, None], True)
        used = used & there
        chosen = first_of(used, MAX_FITTED)
        features, some_x, log_z, weight = (taken(part, chosen) for part in values)
        return features, some_x, log_z, weight, taken(used, chosen)

    def _averaged(
        self, features: Tensor, x: Tensor, log_z: Tensor, weight: Tensor, there: Tensor, low: Tensor, high: Tensor
    ) -> Tensor:
        """(B, N) log depth at the knots, averaged over all relations and contrasts."""
        num = there.sum(dim=1).double()
        process = _ShiftFree(features.double(), log_z, self.fit.noise_var(torch.where(there, weight, 1.0)), there)
        u = ((x - low[:, None]) / (high - low)[:, None])[:, None, None, :]  # (B, 1, 1, K)
        B, R = len(x), len(self.power)
        bottom, top = x.new_full((B, R), -_MAX_STD), x.new_full((B, R), _MAX_STD)
        for zoom in range(_ZOOMS):
            at = bottom[..., None] + (top - bottom)[..., None] * self.grid
            contrast = self._contrasts(at, high - low)
            shape = curves(u, contrast[..., None], self.power)
            whitened = process.whitened_residual(shape)
            amplitude_var = self.fit.amplitude_var(
                self.fit.amplitude,
                (whitened * whitened).sum(dim=3),
                (num - 1.0)[:, None, None],  # type: ignore[arg-type]
            )
            known = (self.fit.prior_anchors + num - 1.0)[:, None, None]
            log_p = -0.5 * known * amplitude_var.log() - 0.5 * at**2
            if zoom < _ZOOMS - 1:
                likely = (log_p > log_p.amax(dim=2, keepdim=True) - _NEGLIGIBLE).int()
                step = (top - bottom) / (_POINTS - 1)
                first, last = (
                    likely.argmax(dim=2, keepdim=True),
                    _POINTS - 1 - likely.flip(2).argmax(dim=2, keepdim=True),
                )
                bottom, top = at.gather(2, first)[..., 0] - step, at.gather(2, last)[..., 0] + step
        best = log_p.amax(dim=2, keepdim=True)
        share = (log_p - best).exp()
        joint = best[..., 0] + (share.sum(dim=2) * (top - bottom)).log()
        share = share / share.sum(dim=2, keepdim=True)
        error, var = process.leave_one_out(whitened)
        density = student_t_log_density(error, var[:, None, None] * amplitude_var[..., None], self.fit.dof)
        floor = density.amin(dim=2, keepdim=True)
        harmonic = (share[..., None] * (floor - density).clamp(min=-300.0).exp()).sum(dim=2)
        left_out = torch.where(there[:, None], floor[:, :, 0] - harmonic.log(), 0.0).sum(dim=2)
        each = curves(self.knots, contrast[..., None], self.power) + process.shift(shape)[..., None]
        averaged: Tensor = ((self._probabilities(joint, left_out)[..., None] * share)[..., None] * each).sum(dim=(1, 2))
        return averaged

    def _contrasts(self, at_BRG: Tensor, own_B: Tensor) -> Tensor:
        """See `mrac.fit._relations.Relation.contrasts`."""
        first = own_B[:, None, None] * (1.0 + self.fit.slope_std * at_BRG[:, :1])
        others = self.fit.contrast * torch.exp(self.fit.contrast_std * at_BRG[:, 1:])
        return torch.cat([first, others], dim=1) * self.sign[:, None]

    def _probabilities(self, joint: Tensor, left_out: Tensor) -> Tensor:
        """(B, R) probability of each relation; see `mrac.fit.evidence._probabilities`."""
        joint, left_out = joint + self.log_prior, left_out + self.log_prior
        first = torch.where(self.declared, joint, -torch.inf).argmax(dim=1, keepdim=True)
        joint, left_out = joint - joint.gather(1, first), left_out - left_out.gather(1, first)
        return torch.softmax(torch.where(self.declared, joint, torch.minimum(joint, left_out)), dim=1)


class _ShiftFree:
    """`mrac.gp.posterior.ShiftFreeProcess` for a batch, (B, R, G, K) trends."""

    def __init__(self, features: Tensor, log_z: Tensor, noise_var: Tensor, there: Tensor) -> None:
        total = process_covariance(features, features) + torch.diag_embed(noise_var)
        root = inverse_root(without_padding(total, there)).float().double()  # rounded as the reference's is
        here = there.double()
        ones = (root @ here[..., None])[..., 0]
        per_shift = ones / (ones * ones).sum(dim=1, keepdim=True)
        self._to_shift = (per_shift[:, None] @ root)[:, 0] * here
        self._left = (root - ones[..., None] * self._to_shift[:, None]) * here[:, None]
        self._precision = torch.where(there, (self._left**2).sum(dim=1), 1.0)
        self._log_z, self._here = log_z, here

    def whitened_residual(self, trend: Tensor) -> Tensor:
        """(B, R, G, K)."""
        off = (self._log_z[:, None, None] - trend) * self._here[:, None, None]
        return (off.flatten(1, 2) @ self._left.mT).reshape(off.shape)

    def shift(self, trend: Tensor) -> Tensor:
        """(B, R, G) the best shift of each trend."""
        off = (self._log_z[:, None, None] - trend) * self._here[:, None, None]
        return (off * self._to_shift[:, None, None]).sum(dim=3)

    def leave_one_out(self, whitened: Tensor) -> tuple[Tensor, Tensor]:
        """(B, R, G, K) residual of each reading given the others, and (B, K) its variance."""
        error = (whitened.flatten(1, 2) @ self._left).reshape(whitened.shape)
        return error / self._precision[:, None, None], 1.0 / self._precision


def curves(u: Tensor, contrast: Tensor, power: Tensor) -> Tensor:
    """Log depth up to a shift; see `mrac.fit._relations.curves`."""
    straight = power == 0.0
    p = torch.where(straight, 1.0, power)
    bent = (p * contrast).clamp(-_MAX_BEND, _MAX_BEND)
    bent = torch.where(bent.abs() < 1e-6, 1e-6, bent)
    inside = torch.log1p(torch.expm1(bent) * u.clamp(0.0, 1.0)) / p
    steepest = _MAX_SLOPE * (bent / p).abs()
    below = torch.minimum(torch.maximum(torch.expm1(bent) / p, -steepest), steepest) * u.clamp(max=0.0)
    above = torch.minimum(torch.maximum(-torch.expm1(-bent) / p, -steepest), steepest) * (u - 1.0).clamp(min=0.0)
    return torch.where(straight, contrast * u, inside + below + above)
