"""A function of tensors recorded once as a CUDA graph and played again: one launch, and no Python between kernels."""

from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor

_WARM_UP = 3  # rounds before a recording: libraries choose their kernels and take their memory in the first ones

Result = TypeVar("Result", bound=tuple[Tensor, ...])


class Recording(Generic[Result]):
    """`function` on inputs of fixed shapes; on another device than a GPU it simply runs.

    Args:
        function: of tensors to a tuple of tensors. Nothing in it may wait for the device or depend on values.
        inputs: the tensors it is played on, which stay the recording's own: whoever plays it writes them first.
    """

    def __init__(self, function: Callable[..., Result], inputs: tuple[Tensor, ...]) -> None:
        self.inputs, self._function = inputs, function
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: Result | None = None
        if inputs[0].device.type == "cuda":
            self._record()

    def play(self) -> Result:
        """The result for what the inputs hold now; of a GPU it is overwritten by the next one."""
        if self._graph is None or self._result is None:
            with torch.inference_mode():
                return self._function(*self.inputs)
        self._graph.replay()
        return self._result

    def _record(self) -> None:
        with torch.inference_mode():
            aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                for _ in range(_WARM_UP):
                    self._function(*self.inputs)
            torch.cuda.current_stream().wait_stream(aside)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self._result = self._function(*self.inputs)
            self._graph = graph
