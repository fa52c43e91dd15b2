"""The last step of training: weights are put where the file's bits can hold them, so that what ships loses nothing."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from mrac.lab.export.onnx import KEPT_WHOLE, STEPS, Bits


@torch.no_grad()
def round_weights(network: nn.Module, bits: Bits = 16) -> None:
    """Rounds the large weights of `network`, in place, to the grid that `export_onnx` stores.

    A norm is folded into its convolution on export, so it is the folded weight that must lie on the grid. Rounded at
    export alone, the file differed from the network by up to 0.014 in log depth, in places (KITTI's sky) where the
    network hangs by a thread; so the rounded network is the one that is kept.

    A batch norm is taken to belong to the convolution that was registered just before it, as all our networks have it.
    """
    modules = [module for module in network.modules() if not list(module.children())]
    for module, following in pairwise([*modules, nn.Identity()]):
        if not isinstance(module, nn.Conv2d | nn.Linear):
            continue
        gain = torch.ones_like(module.weight.flatten(1)[:, 0])
        if isinstance(module, nn.Conv2d) and isinstance(following, nn.BatchNorm2d):
            assert following.running_var is not None  # batch norms have statistics
            gain = following.weight * torch.rsqrt(following.running_var + following.eps)
        _round(module.weight, gain, STEPS[bits])


def _round(weight: Tensor, gain: Tensor, num_steps: int) -> None:
    """Rounds `weight` (outputs, ...) · `gain` (outputs,) to integer multiples of its largest value over `num_steps`."""
    if weight.numel() < KEPT_WHOLE:
        return
    gain = gain.view(-1, *(1 for _ in weight.shape[1:])).double()
    folded = weight.double() * gain
    step = (folded.abs().amax(dim=tuple(range(1, weight.ndim)), keepdim=True) / num_steps).clamp(min=1e-30)
    rounded = torch.round(folded / step) * step / gain
    weight.copy_(torch.where(gain == 0, weight.double(), rounded))  # a channel that its norm silences
