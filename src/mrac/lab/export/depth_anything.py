"""The graph of Depth Anything V2 Small without its weights: ONNX Runtime takes these from the official file.

`python -m mrac.lab.export.depth_anything OUT.onnx` writes it. Only the architecture enters: the network is built with
random weights, and these are left out of the file again.
"""

import re
from pathlib import Path
from typing import Any, Final

import click
import torch
from torch import nn
from torch.nn import functional

from mrac.errors import MissingExtra
from mrac.io.files import write_whole
from mrac.lab.export.onnx import check_model, traced

WEIGHTS_FILE: Final = "model.safetensors"
ABOUT: Final = {
    "network": "Depth Anything V2 Small (DINOv2 ViT-S/14 encoder, DPT decoder), relative inverse depth",
    "weights": "none in this file; depth-anything/Depth-Anything-V2-Small-hf, model.safetensors, Apache-2.0",
    "made by": "python -m mrac.lab.export.depth_anything",
}
_PATCH = 14
_MAX_PATCHES = 512  # of a side; more than the foundation's own bound on pixels permits
# transformers 5 names the projections otherwise than the file does.
_NAMES: Final = {
    r"\.attention\.q_proj\.": ".attention.attention.query.",
    r"\.attention\.k_proj\.": ".attention.attention.key.",
    r"\.attention\.v_proj\.": ".attention.attention.value.",
    r"\.attention\.o_proj\.": ".attention.output.dense.",
}


def small_config() -> Any:
    """Transformers' configuration of Depth Anything V2 Small, as in the checkpoint's config.json."""
    from transformers import DepthAnythingConfig, Dinov2Config  # noqa: PLC0415  (seconds)

    backbone = Dinov2Config(
        hidden_size=384,
        num_hidden_layers=12,
        num_attention_heads=6,
        image_size=518,
        patch_size=_PATCH,
        apply_layernorm=True,
        reshape_hidden_states=False,
        out_indices=[3, 6, 9, 12],  # V1 reads [9, 10, 11, 12] with the same tensors
    )
    return DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=384,
        neck_hidden_sizes=[48, 96, 192, 384],
        fusion_hidden_size=64,
        depth_estimation_type="relative",
        max_depth=1,
    )


class _AnySize(nn.Module):
    """transformers' network, its head without the `int()` that fixes the output's size when it is traced."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        """Inverse depth (1, h, w) of an input (1, 3, h, w)."""
        rows, columns = pixel_values.shape[2] // _PATCH, pixel_values.shape[3] // _PATCH
        maps = self.model.backbone.forward_with_filtered_kwargs(pixel_values).feature_maps
        head = self.model.head
        x = head.conv1(self.model.neck(maps, rows, columns)[head.head_in_index])
        x = functional.interpolate(x, (rows * _PATCH, columns * _PATCH), mode="bilinear", align_corners=True)
        x = head.conv3(head.activation1(head.conv2(x)))
        inverse: torch.Tensor = head.activation2(x).squeeze(1)
        return inverse


def export_graph(path: Path, config: Any = None) -> None:
    """Writes the graph: input `pixel_values` (1, 3, 14 i, 14 j) normalised, output `inverse_depth` of its size.

    Every weight is an initialiser with the name that it has in the official file and the location `model.safetensors`.

    Args:
        path: of the .onnx file.
        config: transformers' configuration of the network; `small_config()` by default.

    Raises:
        MissingExtra: `onnx`, `onnxscript` or `transformers` is not installed.
    """
    try:
        from transformers import DepthAnythingForDepthEstimation  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("exporting Depth Anything", "lab") from None
    # `eager`: the other implementation is traced with a test for rows without any key, on every weight of attention.
    made = DepthAnythingForDepthEstimation._from_config(config or small_config(), attn_implementation="eager")
    network = _AnySize(made.eval())
    rows, columns = (torch.export.Dim(name, min=2, max=_MAX_PATCHES) for name in ("rows", "columns"))
    model = traced(
        network,
        {"pixel_values": torch.zeros(1, 3, _PATCH * 18, _PATCH * 24)},
        {"pixel_values": {2: _PATCH * rows, 3: _PATCH * columns}},
        "inverse_depth",
        ABOUT,
        optimize=False,
    )
    check_model(model)  # before: it looks for the file of weights
    take_weights_out(model, {f"model.{name}": official_name(name) for name in network.model.state_dict()})
    write_whole(path, lambda file: file.write(model.SerializeToString()))


def official_name(name: str) -> str:
    """The name in the official file of a tensor of transformers' network."""
    for pattern, replacement in _NAMES.items():
        name = re.sub(pattern, replacement, name)
    return name


def take_weights_out(model: Any, names: dict[str, str]) -> None:
    """Replaces the values of the initialisers in `names` by a reference to `model.safetensors`, under their new names.

    Args:
        model: of the onnx package; changed in place.
        names: from the initialisers' present names to those in the file of weights.
    """
    from onnx import TensorProto  # noqa: PLC0415

    for constant in model.graph.initializer:
        if constant.name in names:
            constant.name = names[constant.name]
            constant.ClearField("raw_data")
            constant.data_location = TensorProto.EXTERNAL
            constant.external_data.add(key="location", value=WEIGHTS_FILE)
    for node in model.graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = names.get(name, name)


@click.command()
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
def main(out: Path) -> None:
    """Write the graph of Depth Anything V2 Small, without weights, to OUT."""
    export_graph(out)
    click.echo(f"{out}: {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
