"""Floors of the GPU path: what arithmetic and memory of an H200 would take at the least, beside what was measured.

    python -m mrac.lab.studies.gpu_roofline results/gpu-speed--h200-16cores--2026-11-19/gpu_speed.json

No GPU is needed: operations are counted on tensors without content. Bytes: each layer's input, output and weights once,
in half precision, as if all that lies between two layers were fused into them. The floor is the longer of operations
over the rate of matrix products and bytes over the speed of copies, both as measured on such a machine.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from mrac.foundation.embedded import NETWORK, input_size
from mrac.gpu.published import network_from_onnx
from mrac.lab.studies.gpu_paper import depth_anything_large

FLOPS_PER_S: Final = 788e12  # bfloat16 products of 8192 × 8192 random numbers
BYTES_PER_S: Final = 4.3e12  # copies within the device, read and written
_BYTES: Final = 2  # of a number in half precision


class Floor(NamedTuple):
    """Of one call: operations, bytes, and the least milliseconds."""

    flops: float
    bytes: float

    @property
    def ms(self) -> float:
        """The longer of the two."""
        return 1e3 * max(self.flops / FLOPS_PER_S, self.bytes / BYTES_PER_S)


def floor_of(network: nn.Module, image_B3HW: Tensor) -> Floor:
    """Of a network on the device `meta`, for images there."""
    moved = 0

    def count(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        nonlocal moved
        tensors = [part for part in (*inputs, output, *module.parameters(recurse=False)) if isinstance(part, Tensor)]
        moved += sum(part.numel() for part in tensors)

    handles = [
        module.register_forward_hook(count) for module in network.modules() if isinstance(module, nn.Conv2d | nn.Linear)
    ]
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        network(image_B3HW)
    for handle in handles:
        handle.remove()
    return Floor(counter.get_total_flops(), _BYTES * moved)


def floors() -> dict[tuple[str, str], Floor]:
    """By part and name of what `gpu_speed` measured."""
    embedded, large = (network.to("meta") for network in (network_from_onnx(NETWORK), depth_anything_large()))
    found = {}
    for batch in (1, 64):  # two passes
        image = torch.zeros(2 * batch, 3, *input_size(480, 640), device="meta")
        found["default", f"batch {batch}"] = floor_of(embedded, image)
    for name, size in (("480x640 as 518x686", (518, 686)), ("352x1216 as 350x1218", (350, 1218))):
        for batch in (1, 32):
            image = torch.zeros(batch, 3, *size, device="meta")
            found["paper", f"{name}, batch {batch}"] = floor_of(large, image)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="gpu_speed.json")
    measured = json.loads(parser.parse_args(arguments).results.read_text(encoding="utf-8"))
    print("| network | GFLOP | MB | floor, ms | measured, ms | times the floor |\n|---|---|---|---|---|---|")
    for (part, name), floor in floors().items():
        for label, ms in _times(measured, part, name):
            print(
                f"| {label} | {floor.flops / 1e9:.1f} | {floor.bytes / 1e6:.0f} | {floor.ms:.3f} "
                f"| {ms:.3f} | {ms / floor.ms:.1f} |"
            )


def _times(measured: dict[str, Any], part: str, name: str) -> list[tuple[str, float]]:
    """What was measured of the network alone, in half precision, by name."""
    if part == "paper":
        cell = measured["paper"].get(name)
        return [(f"DAv2-L, {name}", cell["half, recorded, foundation alone"]["mean_ms"])] if cell else []
    return [
        (f"embedded, two passes, {what}, {name}", batches[name]["foundation"]["mean_ms"])
        for what, cell in measured["default"].items()
        if name in (batches := cell["timings"].get("float16", {}))
    ]


if __name__ == "__main__":
    main()
