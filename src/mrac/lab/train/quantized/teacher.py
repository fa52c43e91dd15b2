"""What the 8-bit network is to say: the network in single precision, on the image and its mirror image."""

import math
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mrac.conventions import FloatArray
from mrac.runtime.providers import import_onnxruntime

_SURE = 0.05  # log depth by which the two passes differ where a pixel counts half
# Log depth beyond which all is equally far: 200 m. The network puts the sky at up to e^21 m; ranges that reach there
# leave few of their 255 steps to a room.
FAR = math.log(200.0)


class Teacher:
    """The mean of two passes, and how far each pixel is to be believed.

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
