"""Where the small network starts: with the embedded network's weights wherever the shapes are the same."""

from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from mrac.gpu.network import Convolution
from mrac.lab.train.quantized.teacher import FAR
from mrac.lab.train.small_network import SmallNetwork

_DEAD = 1e-5  # size of a filter that says nothing; it stays as it is
_MIDDLE, _SPAN = 127.0, 128.0  # how `DepthNetwork` normalises the image, which `SmallNetwork` leaves to its first norm


@torch.no_grad()
def started(teacher: nn.Module, images: Iterable[Tensor]) -> SmallNetwork:
    """A small network that has the teacher's map at stride 4, and gives the depth that is nearest to linear in it.

    The teacher's file has no norms any more. They are put back, with the statistics that their inputs have on `images`
    and with gains and shifts that undo them, so that the weights before them can have the size that learns best.

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
    known = teacher.state_dict()
    state = network.state_dict()
    network.load_state_dict({name: _same(known, name, value) for name, value in state.items()})
    layers = {name: one for name, one in network.named_modules() if isinstance(one, Convolution)}
    for name, layer in layers.items():
        _fill_norm(layer, *_gain_and_shift(layer, name, known))
    batches = [image.contiguous(memory_format=torch.channels_last) for image in images]
    statistics = _statistics(network, layers, batches)
    for name, layer in layers.items():
        _undo(layer, *statistics[name])
    _fit_output(network, teacher, batches)
    return network.eval()


def _same(known: dict[str, Tensor], name: str, value: Tensor) -> Tensor:
    """The teacher's tensor of that name if it has as many numbers: its linear layers are convolutions here."""
    theirs = known.get(name)
    # The teacher's output layer sees another map than ours.
    taken = theirs is not None and theirs.numel() == value.numel() and not name.startswith("out.")
    return theirs.reshape(value.shape) if taken else value  # type: ignore[union-attr]


def _gain_and_shift(layer: Convolution, name: str, known: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """(C,) each: what the norm is to do, in all, to the output of a convolution."""
    bias = known.get(f"{name}.conv.bias")
    if bias is None:
        return torch.zeros_like(layer.norm.weight), torch.zeros_like(layer.norm.bias)
    gain = torch.ones_like(bias)
    if name == "encoder.stem":
        return gain / _SPAN, bias - layer.conv.weight.sum(dim=(1, 2, 3)) * (_MIDDLE / _SPAN)
    return gain, bias


def _fill_norm(layer: Convolution, gain: Tensor, shift: Tensor) -> None:
    norm = layer.norm
    mean, variance = cast("Tensor", norm.running_mean), cast("Tensor", norm.running_var)
    mean.zero_()
    variance.fill_(1.0 - norm.eps)
    norm.weight.copy_(gain)
    norm.bias.copy_(shift)


def _statistics(
    network: SmallNetwork, layers: dict[str, Convolution], images: list[Tensor]
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


def _undo(layer: Convolution, mean: Tensor, variance: Tensor) -> None:
    """Gives a norm these statistics without changing what it does; where it did nothing, it goes on so.

    The filters before it get a size of 1: a step of the optimiser then turns all of them equally far, also those that
    the norm of the teacher's training made small. Where what comes out varies so little that the norm's eps would
    count, they stay larger.
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
