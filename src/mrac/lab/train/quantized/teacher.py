"""What a network in 8 bits, or a smaller one, is to say: the embedded one's answer to an image and its mirror image."""

import math
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mrac.conventions import FloatArray
from mrac.gpu.published import network_from_onnx
from mrac.lab.train.foundation.losses import gradient_l1, metric_l1, shift_invariant_l1
from mrac.runtime.providers import import_onnxruntime

_SURE = 0.05  # log depth by which the two passes differ where a pixel counts half
# Log depth beyond which all is equally far: 200 m. The network puts the sky at up to e^21 m; ranges that reach there
# leave few of their 255 steps to a room.
FAR = math.log(200.0)


class Teacher:
    """The mean of two passes, and how far each pixel is to be believed; by ONNX Runtime.

    One thread a call, so that calls of several threads run side by side.
    """

    def __init__(self, network: Path) -> None:
        onnxruntime = import_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
        self._name = self._session.get_inputs()[0].name

    def __call__(self, image_B3HW: Tensor) -> tuple[Tensor, Tensor]:
        """The answer to images of RGB in [0, 255].

        Returns:
            (B, h, w) log depth up to `FAR`, and (B, h, w) weight in (0, 1]: where both passes differ, neither is worth
            following exactly.
        """
        maps = [self._run(one) for one in image_B3HW.numpy()]
        first, second = (np.stack(same).clip(max=FAR) for same in zip(*maps, strict=True))
        weight = 1.0 / (1.0 + np.abs(first - second) / _SURE)
        return torch.from_numpy((first + second) / 2), torch.from_numpy(weight)

    def _run(self, image_3HW: FloatArray) -> tuple[FloatArray, FloatArray]:
        image = image_3HW[None]
        mirrored = np.ascontiguousarray(image[..., ::-1])
        first, second = (self._session.run(None, {self._name: one})[0][0, 0] for one in (image, mirrored))
        return first, second[:, ::-1]


class DeviceTeacher:
    """As `Teacher`, in torch: for a GPU, where it computes in half precision; nothing in it waits for the device."""

    def __init__(self, network: Path, device: torch.device) -> None:
        self.network = network_from_onnx(network).to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._half = device.type == "cuda"

    @torch.no_grad()
    def __call__(self, image_B3HW: Tensor) -> tuple[Tensor, Tensor]:
        """As `Teacher` gives it, on the device."""
        both = torch.cat([image_B3HW, image_B3HW.flip(3)]).contiguous(memory_format=torch.channels_last)
        with torch.autocast(both.device.type, dtype=torch.float16, enabled=self._half, cache_enabled=False):
            maps = self.network(both)
        first, mirrored = maps[:, 0].float().clamp(max=FAR).chunk(2)
        second = mirrored.flip(2)
        return (first + second) / 2, 1.0 / (1.0 + (first - second).abs() / _SURE)


def distance_to(
    target_BHW: Tensor, weight_BHW: Tensor, predicted_BHW: Tensor, gradient: float, metric: float
) -> Tensor:
    """The loss of what is taught: up to a shift, and with these weights of the gradients and of the shift itself.

    Returns:
        The mean over the batch.
    """
    error = predicted_BHW.clamp(max=FAR) - target_BHW
    total = (
        shift_invariant_l1(error, weight_BHW)
        + gradient * gradient_l1(error, weight_BHW)
        + metric * metric_l1(error, weight_BHW)
    )
    return total.mean()
