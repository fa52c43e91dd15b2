"""Toy networks of every family that transformers loads, saved as checkpoints are: a few thousand random weights."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import BeitConfig, DepthAnythingConfig, DepthProConfig, Dinov2Config, DPTConfig, ZoeDepthConfig

from tests.networks.published import build, lively

_VIT: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2}
_HEAD: dict[str, Any] = {"neck_hidden_sizes": [8, 8, 8, 8], "fusion_hidden_size": 8}


def depth_anything(metric_m: int | None = None) -> DepthAnythingConfig:
    backbone = Dinov2Config(
        image_size=56, patch_size=14, reshape_hidden_states=False, out_indices=[1, 2, 3, 4], mlp_ratio=2, **_VIT
    )
    return DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=32,
        head_hidden_size=8,
        depth_estimation_type="relative" if metric_m is None else "metric",
        max_depth=1 if metric_m is None else metric_m,
        **_HEAD,
    )


def dpt() -> DPTConfig:
    return DPTConfig(
        image_size=32, intermediate_size=64, backbone_out_indices=[0, 1, 2, 3], patch_size=8, **_VIT, **_HEAD
    )


def _beit() -> BeitConfig:
    return BeitConfig(
        image_size=32,
        patch_size=8,
        intermediate_size=64,
        use_relative_position_bias=True,
        reshape_hidden_states=False,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        **_VIT,
    )


def dpt_beit() -> DPTConfig:
    return DPTConfig(backbone_config=_beit(), **_HEAD)


def zoedepth() -> ZoeDepthConfig:
    bins = [{"name": "nyu", "n_bins": 8, "min_depth": 1e-3, "max_depth": 10.0}]
    return ZoeDepthConfig(
        backbone_config=_beit(),
        bottleneck_features=8,
        num_relative_features=4,
        bin_embedding_dim=8,
        num_attractors=[4, 2, 2, 1],
        bin_configurations=bins,
        **_HEAD,
    )


def depth_pro() -> DepthProConfig:
    vit: dict[str, Any] = {"model_type": "dinov2", "image_size": 32, "patch_size": 8, "mlp_ratio": 2, **_VIT}
    return DepthProConfig(
        patch_size=32,
        fusion_hidden_size=8,
        intermediate_hook_ids=[3, 1],
        intermediate_feature_dims=[8, 8],
        scaled_images_ratios=[0.25, 0.5, 1.0],
        scaled_images_feature_dims=[8, 8, 8],
        merge_padding_value=1,
        image_model_config=dict(vit),
        patch_model_config=dict(vit),
        fov_model_config=dict(vit),
        use_fov_model=True,
    )


# A size for each that suits its toy, in the words of a preprocessor_config.json.
SIZE_PX = {"depth_anything": 56, "dpt": 32, "zoedepth": 64, "depth_pro": 128}


def save(config: Any, folder: Path, **stated: Any) -> Path:
    """Writes a toy of `config` as a checkpoint; `stated` goes to its preprocessor_config.json beside the size."""
    torch.manual_seed(0)
    network: Any = lively(build(config))
    network.save_pretrained(folder)
    side = SIZE_PX[config.model_type]
    (folder / "preprocessor_config.json").write_text(json.dumps({"size": {"height": side, "width": side}, **stated}))
    return folder
