"""What the scale-map learner is trained to do, and where it starts."""

import torch
from torch import Tensor, nn

from mrac.lab.train.foundation.losses import gradient_l1, metric_l1
from mrac.vi_depth.network import ScaleMapLearner
from mrac.vi_depth.predictors import Standardisation


def fresh_learner() -> ScaleMapLearner:
    """A learner that gives the alignment back until it is trained: its last layer is zero, which is ours."""
    network = ScaleMapLearner()
    last = network.get_submodule("scratch.output_conv.output_conv.4")
    assert isinstance(last, nn.Conv2d)
    nn.init.zeros_(last.weight)
    if last.bias is not None:
        nn.init.zeros_(last.bias)
    return network


def network_input(aligned_BHW: Tensor, unit_scale_BHW: Tensor, standardisation: Standardisation) -> Tensor:
    """(B, 2, H, W) float32, `vi_depth.refinement.network_input` for tensors."""
    s = standardisation
    channels = [
        (aligned_BHW - s.inv_z_mean_per_m) / s.inv_z_std_per_m,
        (unit_scale_BHW - s.scale_mean) / s.scale_std,
    ]
    return torch.stack(channels, dim=1)


def learner_loss(scale_B1HW: Tensor, aligned_BHW: Tensor, truth_BHW: Tensor, gradient_weight: float = 0.5) -> Tensor:
    """Mean |aligned · scale − truth| in inverse depth, and the same of its gradients at four scales.

    The L1 distance of metric inverse depth is VI-Depth's (arXiv 2303.12134), whose training code is not published. Ours
    are the division by the image's mean true inverse depth, without which a room would count ten times a street, and
    the weight of the gradients (Li & Snavely 2018). The limits of the ranges are not applied: beyond them there would
    be no gradient to come back by.

    Args:
        scale_B1HW: (B, 1, H, W) what the network gives; in single precision, since bfloat16 has steps of 0.4 %.
        aligned_BHW: (B, H, W) 1/m, not standardised.
        truth_BHW: (B, H, W) 1/m, 0 where it is not known.
        gradient_weight: of the second term.

    Returns:
        (B,), >= 0; 0 without truth.
    """
    known = (truth_BHW > 0).float()
    count = known.sum(dim=(1, 2), keepdim=True).clamp(min=1.0)
    mean = (truth_BHW * known).sum(dim=(1, 2), keepdim=True) / count
    error = (aligned_BHW * scale_B1HW[:, 0].float() - truth_BHW) * known / mean.clamp(min=1e-6)
    return metric_l1(error, known) + gradient_weight * gradient_l1(error, known)
