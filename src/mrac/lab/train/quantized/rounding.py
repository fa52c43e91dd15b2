"""Rounding to an 8-bit grid with gradients that pass straight through, for values, ranges and weights."""

from typing import Any

import torch
from torch import Tensor, nn

LEVELS = 255  # of an unsigned byte, from 0
# Of weights to either side of 0: 7 bits, see `lab/export/int8.py`; 8 bits in filters per channel, whose products ONNX
# Runtime adds in 32 bits on every processor. Filters in 7 bits were the largest part of all error.
WEIGHT_STEPS, FILTER_STEPS = 64, 127


class _Rounded(torch.autograd.Function):
    """x on the grid {(q − zero)·scale, q = 0 … 255}, as ONNX's QuantizeLinear and DequantizeLinear give it.

    Inside the range the gradient passes as if nothing had been rounded; outside it moves the range's ends (LSQ: Esser
    et al. 2020, with a learned zero: Bhalgat et al. 2020).
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, log_scale: Tensor, zero: Tensor) -> Tensor:
        scale = float(log_scale.detach().exp())
        whole = float(zero.detach().round().clamp(0, LEVELS))  # as the file holds it
        y = (x / scale).round_().clamp_(-whole, LEVELS - whole).mul_(scale)
        ctx.save_for_backward(x, y)
        ctx.scale, ctx.learn_zero = scale, ctx.needs_input_grad[2]
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        (grad,) = grads
        x, y = ctx.saved_tensors
        half = (0.5 + 1e-4) * ctx.scale
        grad_x = torch.ops.aten.hardtanh_backward(grad, y - x, -half, half)  # in one pass: 0 where x lies outside
        # A value inside moves by its own rounding as the step grows, one outside with the end of the range.
        grad_scale = _dot(grad, y) - _dot(grad_x, x)
        grad_zero = ctx.scale * (grad_x.sum() - grad.sum()) if ctx.learn_zero else None
        return grad_x, grad_scale, grad_zero


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """The sum of products; without a copy where both lie in memory alike."""
    if a.ndim == 4 and all(one.is_contiguous(memory_format=torch.channels_last) for one in (a, b)):
        a, b = a.permute(0, 2, 3, 1), b.permute(0, 2, 3, 1)
    return torch.dot(a.reshape(-1), b.reshape(-1))


class Rounding(nn.Module):
    """The grid of one tensor of activations, learned.

    Args:
        scale: of a step.
        zero: the number, from 0 to 255, that stands for 0. What follows a ReLU has 0 and keeps it.
    """

    def __init__(self, scale: float, zero: int) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(scale, dtype=torch.float64).log().float())
        self.zero = nn.Parameter(torch.tensor(float(zero)), requires_grad=zero > 0)

    def forward(self, x: Tensor) -> Tensor:
        """Any shape to the same shape, on the grid."""
        return _Rounded.apply(x, self.log_scale, self.zero)  # type: ignore[no-any-return, no-untyped-call]

    @property
    def grid(self) -> tuple[float, int]:
        """Scale and zero as the file holds them."""
        return float(self.log_scale.detach().exp()), int(self.zero.detach().round().clamp(0, LEVELS))


def whole_steps(steps: Tensor, most: int) -> Tensor:
    """Weights in steps of their grid, rounded to whole numbers up to `most`; the gradient passes straight through."""
    rounded = steps.detach().round().clamp(-most, most)
    return steps + (rounded - steps).detach()
