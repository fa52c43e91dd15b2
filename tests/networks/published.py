"""The published architectures, with random weights: what the parameter counts are checked against."""

import warnings
from typing import Any

import torch
import transformers
from transformers import (
    BeitConfig,
    DepthAnythingConfig,
    DepthProConfig,
    Dinov2Config,
    DPTConfig,
    Swinv2Config,
    ZoeDepthConfig,
)

DINOV2: dict[str, dict[str, Any]] = {
    "small": {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6},
    "base": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12},
    "large": {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16},
}
INDICES = {
    1: {"small": [9, 10, 11, 12], "base": [9, 10, 11, 12], "large": [21, 22, 23, 24]},
    2: {"small": [3, 6, 9, 12], "base": [3, 6, 9, 12], "large": [5, 12, 18, 24]},
}
NECK = {"small": [48, 96, 192, 384], "base": [96, 192, 384, 768], "large": [256, 512, 1024, 1024]}
FUSION = {"small": 64, "base": 128, "large": 256}

_CLASS = {
    "depth_anything": "DepthAnythingForDepthEstimation",
    "depth_pro": "DepthProForDepthEstimation",
    "dpt": "DPTForDepthEstimation",
    "zoedepth": "ZoeDepthForDepthEstimation",
}


def depth_anything(size: str, version: int = 2, metric_m: int | None = None) -> DepthAnythingConfig:
    backbone = Dinov2Config(
        image_size=518,
        patch_size=14,
        apply_layernorm=True,
        reshape_hidden_states=False,
        out_indices=INDICES[version][size],
        **DINOV2[size],
    )
    return DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=DINOV2[size]["hidden_size"],
        neck_hidden_sizes=NECK[size],
        fusion_hidden_size=FUSION[size],
        depth_estimation_type="relative" if metric_m is None else "metric",
        max_depth=1 if metric_m is None else metric_m,
    )


def dpt_large() -> DPTConfig:
    return DPTConfig(
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        backbone_out_indices=[5, 11, 17, 23],
        neck_hidden_sizes=[256, 512, 1024, 1024],
    )


def dpt_hybrid() -> DPTConfig:
    return DPTConfig(
        is_hybrid=True,
        backbone_out_indices=[2, 5, 8, 11],
        neck_hidden_sizes=[256, 512, 768, 768],
        reassemble_factors=[1, 1, 1, 0.5],
        neck_ignore_stages=[0, 1],
        backbone_featmap_shape=[1, 1024, 24, 24],
    )


def beit(size: str, image_px: int) -> BeitConfig:
    large = size == "large"
    return BeitConfig(
        image_size=image_px,
        num_hidden_layers=24 if large else 12,
        hidden_size=1024 if large else 768,
        intermediate_size=4096 if large else 3072,
        num_attention_heads=16 if large else 12,
        use_relative_position_bias=True,
        reshape_hidden_states=False,
        out_features=[f"stage{i}" for i in ((6, 12, 18, 24) if large else (3, 6, 9, 12))],
    )


def dpt_beit(size: str, image_px: int) -> DPTConfig:
    return DPTConfig(backbone_config=beit(size, image_px), neck_hidden_sizes=NECK[size])


def dpt_swinv2(size: str) -> DPTConfig:
    embed = {"tiny": 96, "base": 128, "large": 192}[size]
    tiny = size == "tiny"
    backbone = Swinv2Config(
        image_size=256 if tiny else 384,
        embed_dim=embed,
        depths=[2, 2, 6 if tiny else 18, 2],
        num_heads=[embed // 32 * n for n in (1, 2, 4, 8)],
        window_size=16 if tiny else 24,
        pretrained_window_sizes=[0, 0, 0, 0] if tiny else [12, 12, 12, 6],
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    return DPTConfig(backbone_config=backbone, neck_hidden_sizes=[embed * n for n in (1, 2, 4, 8)])


def zoedepth(*, two_domains: bool) -> ZoeDepthConfig:
    nyu = {"name": "nyu", "n_bins": 64, "min_depth": 1e-3, "max_depth": 10.0}
    kitti = {"name": "kitti", "n_bins": 64, "min_depth": 1e-3, "max_depth": 80.0}
    more: dict[str, Any] = {
        "num_patch_transformer_layers": 4,
        "patch_transformer_hidden_size": 128,
        "patch_transformer_intermediate_size": 1024,
        "patch_transformer_num_attention_heads": 4,
    }
    return ZoeDepthConfig(
        backbone_config=beit("large", 384),
        neck_hidden_sizes=NECK["large"],
        bin_configurations=[nyu, kitti] if two_domains else [nyu],
        **(more if two_domains else {}),
    )


def depth_pro(*, field_of_view: bool) -> DepthProConfig:
    vit: dict[str, Any] = {
        "model_type": "dinov2",
        "image_size": 384,
        "patch_size": 16,
        "use_mask_token": False,
        **DINOV2["large"],
    }
    return DepthProConfig(
        image_model_config=dict(vit),
        patch_model_config=dict(vit),
        fov_model_config=dict(vit),
        use_fov_model=field_of_view,
    )


def build(config: Any, device: str = "cpu") -> torch.nn.Module:
    """The network of `config` in evaluation mode; on the device `meta` it has shapes and no memory."""
    with warnings.catch_warnings(), torch.device(device):
        # What ZoeDepth's module warns of when it is first imported; transformers' own affair.
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
        kind: Any = getattr(transformers, _CLASS[config.model_type])
        network: torch.nn.Module = kind(config)
    return network.eval()


def num_parameters(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def lively(network: torch.nn.Module) -> torch.nn.Module:
    """Redraws the head's convolutions so that the map has a range: as initialised, it is one value up to rounding."""
    generator = torch.Generator().manual_seed(0)
    for name, part in network.named_modules():
        inside = name.startswith(("neck", "head", "fusion_stage", "relative_head", "metric_head"))
        if inside and isinstance(part, torch.nn.Conv2d | torch.nn.ConvTranspose2d):
            torch.nn.init.kaiming_normal_(part.weight, generator=generator)
    # Behind the final ReLU some of the map should be zero, as skies are, and most of it not.
    last = [part for name, part in network.named_modules() if name in ("head.conv3", "head.head.4", "head.layers.4")]
    for part in last:
        assert isinstance(part, torch.nn.Conv2d)
        with torch.no_grad():
            part.weight.abs_()[:, ::4] *= -1.0
    return network
