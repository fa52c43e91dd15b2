"""Where the small network starts: with the embedded network's weights wherever the shapes are the same."""

from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from mrac.gpu.network import Convolution
from mrac.lab.train.norms import as_in_file, put_norms_back
from mrac.lab.train.quantized.teacher import FAR
from mrac.lab.train.small_network import SmallNetwork

_MIDDLE, _SPAN = 127.0, 128.0  # how `DepthNetwork` normalises the image, which `SmallNetwork` leaves to its first norm


@torch.no_grad()
def started(teacher: nn.Module, images: Iterable[Tensor]) -> SmallNetwork:
    """A small network that has the teacher's map at stride 4, and gives the depth that is nearest to linear in it.

    Args:
        teacher: the embedded network, of `network_from_onnx`.
        images: batches (B, 3, H, W) on the teacher's device, some hundred views in all.

    Returns:
        On the teacher's device, in evaluation mode, so that the norms keep these statistics. What the teacher does not
        have is random, and adds nothing yet.
    """
    device = next(teacher.parameters()).device
    network = SmallNetwork()
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    # The teacher's output layer sees another map than ours.
    known = {name: value for name, value in teacher.state_dict().items() if not name.startswith("out.")}
    batches = [image.contiguous(memory_format=torch.channels_last) for image in images]
    put_norms_back(network, known, batches, _effect)
    _fit_output(network, teacher, batches)
    return network.eval()


def _effect(name: str, layer: Convolution, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """(C,) each: what the norm is to do, in all, to the output of a convolution."""
    gain, shift = as_in_file(name, layer, bias)
    if name == "encoder.stem":
        return gain / _SPAN, shift - layer.conv.weight.sum(dim=(1, 2, 3)) * (_MIDDLE / _SPAN)
    return gain, shift


def _fit_output(network: SmallNetwork, teacher: nn.Module, images: list[Tensor]) -> None:
    """Sets the output layer to the least-squares fit of the teacher's answers."""
    seen: list[Tensor] = []
    handle = network.get_submodule("refine.2.mix").register_forward_hook(lambda _, __, output: seen.append(output))
    network.eval()
    square, product = torch.zeros(()), torch.zeros(())
    for image in images:
        network(image)
        x = functional.pad(_rows(seen.pop()), (0, 1), value=1.0)
        y = _rows(functional.pixel_unshuffle(teacher(image).clamp(max=FAR), 2))
        square, product = (x.T @ x).cpu() + square, (x.T @ y).cpu() + product
    handle.remove()
    ridge = 1e-4 * square.diagonal().mean() * torch.eye(len(square), dtype=square.dtype)
    fitted = torch.linalg.solve(square + ridge, product).T.float()
    network.out.weight.copy_(fitted[:, :-1, None, None])
    cast("Tensor", network.out.bias).copy_(fitted[:, -1])


def _rows(map_BChw: Tensor) -> Tensor:
    """(B·h·w, C) in double precision."""
    return map_BChw.permute(0, 2, 3, 1).flatten(0, 2).double()
