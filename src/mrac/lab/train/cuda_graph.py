"""One training step recorded once and played again: a GPU that waits for no Python."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

_WARM_UP = 3  # rounds before a recording: libraries choose their kernels and take their memory in the first ones


@dataclass(frozen=True, eq=False)
class _Recording:
    graph: torch.cuda.CUDAGraph
    inputs: tuple[Tensor, ...]
    loss: Tensor
    gradients: list[Tensor | None]


class GraphedStep:
    """From a batch to the gradients of a network, as one CUDA graph per shape of the batch.

    A small network asks for some two thousand kernels a step, each of a few microseconds, and Python takes longer to
    ask than the GPU to answer. On a CPU the step simply runs.

    Args:
        step: from a batch to the loss, after calling its backward. Nothing in it may wait for the device (`.item()`,
            boolean indexing), depend on values, or leave its result elsewhere than in gradients and buffers.
        module: the network that learns.
    """

    def __init__(self, step: Callable[..., Tensor], module: nn.Module) -> None:
        self._step, self._module = step, module
        self._recorded: dict[tuple[object, ...], _Recording] = {}

    def __call__(self, *batch: Tensor) -> Tensor:
        """Leaves fresh gradients in the module's parameters and gives the loss, detached."""
        if batch[0].device.type != "cuda":
            self._module.zero_grad(set_to_none=True)
            return self._step(*batch).detach()
        key = tuple((part.shape, part.dtype) for part in batch)
        if key not in self._recorded:
            self._recorded[key] = self._record(batch)
        recording = self._recorded[key]
        for own, part in zip(recording.inputs, batch, strict=True):
            own.copy_(part)
        recording.graph.replay()
        for parameter, gradient in zip(self._module.parameters(), recording.gradients, strict=True):
            parameter.grad = gradient
        return recording.loss.clone()

    def _record(self, batch: tuple[Tensor, ...]) -> _Recording:
        inputs = tuple(part.clone() for part in batch)
        # The rounds before must leave no trace, or a run that was killed would go on from other running means.
        before = {name: buffer.clone() for name, buffer in self._module.named_buffers()}
        seed = torch.cuda.get_rng_state()
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                self._module.zero_grad(set_to_none=True)
                self._step(*inputs)
        torch.cuda.current_stream().wait_stream(aside)
        self._module.zero_grad(set_to_none=True)  # so that backward writes its gradients, and adds to none
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = self._step(*inputs).detach()
        for name, buffer in self._module.named_buffers():
            buffer.copy_(before[name])
        torch.cuda.set_rng_state(seed)
        return _Recording(graph, inputs, loss, [parameter.grad for parameter in self._module.parameters()])
