"""Batch norms for a network whose file has none any more: from ONNX back to something that can be trained further."""

from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn

from mrac.gpu.network import Convolution

START_BATCHES = 8  # of training's views, from which a run takes the statistics
_DEAD = 1e-5  # size of a filter that says nothing; it stays as it is

# From a convolution and the bias that the file has for it, None for a convolution that the file does not have, to what
# its norm is to do in all: a gain (C,) and a shift (C,).
Effect = Callable[[str, Convolution, Tensor | None], tuple[Tensor, Tensor]]


def as_in_file(_: str, layer: Convolution, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """The effect of a norm that changes nothing but to add the file's bias; what the file does not have is silent."""
    if bias is None:
        return torch.zeros_like(layer.norm.weight), torch.zeros_like(layer.norm.bias)
    return torch.ones_like(bias), bias


@torch.no_grad()
def put_norms_back(
    network: nn.Module, known: dict[str, Tensor], images: Iterable[Tensor], effect: Effect = as_in_file
) -> None:
    """Gives a network the weights of a file without norms, and norms that undo themselves.

    The norms have the statistics that their inputs have on `images`, and gains and shifts that make them do what
    `effect` asks for, so that the weights before them can have the size that learns best.

    Args:
        network: on its device; what `known` does not have stays as it is.
        known: the state of a network without norms, as `network_from_onnx` gives it.
        images: batches (B, 3, H, W) on the network's device, some hundred views in all.
        effect: of each norm.
    """
    state = network.state_dict()
    network.load_state_dict({name: _same(known, name, value) for name, value in state.items()})
    layers = {name: one for name, one in network.named_modules() if isinstance(one, Convolution)}
    for name, layer in layers.items():
        bias = known.get(f"{name}.conv.bias")
        _fill_norm(layer, *effect(name, layer, None if bias is None else bias.to(layer.norm.bias.device)))
    statistics = _statistics(network, layers, images)
    for name, layer in layers.items():
        _undo(layer, *statistics[name])


def _same(known: dict[str, Tensor], name: str, value: Tensor) -> Tensor:
    """The file's tensor of that name if it has as many numbers: its linear layers may be convolutions here."""
    theirs = known.get(name)
    return value if theirs is None or theirs.numel() != value.numel() else theirs.reshape(value.shape)


def _fill_norm(layer: Convolution, gain: Tensor, shift: Tensor) -> None:
    norm = layer.norm
    mean, variance = cast("Tensor", norm.running_mean), cast("Tensor", norm.running_var)
    mean.zero_()
    variance.fill_(1.0 - norm.eps)
    norm.weight.copy_(gain)
    norm.bias.copy_(shift)


def _statistics(
    network: nn.Module, layers: dict[str, Convolution], images: Iterable[Tensor]
) -> dict[str, tuple[Tensor, Tensor]]:
    """Mean and variance (C,) of what each norm is given."""
    seen: dict[str, list[Tensor]] = {name: [] for name in layers}

    def watch(name: str) -> Any:
        def note(_: nn.Module, __: object, output: Tensor) -> None:
            values = output.double()  # a mean far from 0 would leave the variance no digits
            seen[name].append(torch.stack([values.mean(dim=(0, 2, 3)), values.square().mean(dim=(0, 2, 3))]))

        return layers[name].conv.register_forward_hook(note)

    handles = [watch(name) for name in layers]
    network.eval()
    for image in images:
        network(image)
    for handle in handles:
        handle.remove()
    moments = {name: torch.stack(values).mean(0) for name, values in seen.items()}
    return {
        name: (first.float(), (second - first.square()).clamp(min=0.0).float())
        for name, (first, second) in moments.items()
    }


def _undo(layer: Convolution, mean: Tensor, variance: Tensor) -> None:
    """Gives a norm these statistics without changing what it does; where it did nothing, it goes on so.

    The filters before it get a size of 1: a step of the optimiser then turns all of them equally far, also those that
    the norm of an earlier training made small. Where what comes out varies so little that the norm's eps would count,
    they stay larger.
    """
    norm, weight = layer.norm, layer.conv.weight
    norm.bias.add_(norm.weight * mean)
    norm.weight.mul_((variance + norm.eps).sqrt())
    size = weight.square().sum(dim=(1, 2, 3)).sqrt()
    size = torch.where(size < _DEAD, 1.0, size)
    size = torch.minimum(size, (variance / norm.eps + 1.0).sqrt())  # or no variance would be small enough
    weight.div_(size[:, None, None, None])
    cast("Tensor", norm.running_mean).copy_(mean / size)
    cast("Tensor", norm.running_var).copy_(((variance + norm.eps) / size.square() - norm.eps).clamp(min=0.0))
