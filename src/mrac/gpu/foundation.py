"""The embedded foundation on a device: a batch of images to log depth at their own size."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mrac.foundation.embedded import NETWORK, input_size
from mrac.gpu.published import network_from_onnx
from mrac.gpu.resampling import resize_matrix


class BatchFoundation(nn.Module):
    """`mrac.foundation.embedded` with its mirror image, for images of one size.

    Args:
        shape: (H, W) of the images.
        network_dtype: in which the network computes. In single precision no TF32 is used: it would cost three digits.
    """

    rows: Tensor
    columns: Tensor
    up_rows: Tensor
    up_columns: Tensor

    def __init__(self, shape: tuple[int, int], network_dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        (H, W), (h, w) = shape, input_size(*shape)
        self.network_dtype = network_dtype
        self.network = network_from_onnx(NETWORK).to(dtype=network_dtype, memory_format=torch.channels_last)  # type: ignore[call-overload]
        constant(self, "rows", resize_matrix(H, h, "bicubic", of_bytes=True))
        constant(self, "columns", resize_matrix(W, w, "bicubic", of_bytes=True).T)
        constant(self, "up_rows", resize_matrix(h // 2, H, "bilinear"), torch.float32)
        constant(self, "up_columns", resize_matrix(w // 2, W, "bilinear").T, torch.float32)

    def forward(self, images_BHW3: Tensor) -> Tensor:
        """(B, H, W, 3) uint8 to (B, H, W) float32 log depth up to a shift."""
        small = to_bytes(self.rows @ to_bytes(as_planes(images_BHW3) @ self.columns))
        batch = torch.cat([small, small.flip(3)]).to(self.network_dtype)
        with _exact_convolutions(batch):
            maps = self.network(batch.contiguous(memory_format=torch.channels_last)).float()[:, 0]
        B = len(images_BHW3)
        values: Tensor = (maps[:B] + maps[B:].flip(2)) / 2
        return self.up_rows @ (values @ self.up_columns)


def as_planes(images_BHW3: Tensor) -> Tensor:
    """(B, 3, H, W) float64, each colour by itself in memory, as matrix products want it."""
    return images_BHW3.permute(0, 3, 1, 2).to(torch.float64, memory_format=torch.contiguous_format)


def to_bytes(values: Tensor) -> Tensor:
    """Rounded to whole numbers from 0 to 255, a half upwards, as Pillow does; still floating point."""
    return (values + 0.5).floor_().clamp_(0.0, 255.0)


def constant(module: nn.Module, name: str, values: NDArray[Any], dtype: torch.dtype = torch.float64) -> None:
    """Gives `module` a tensor that moves with it and is no part of its weights."""
    module.register_buffer(name, torch.from_numpy(np.ascontiguousarray(values)).to(dtype), persistent=False)


def _exact_convolutions(batch: Tensor) -> Any:
    if batch.device.type == "cuda" and batch.dtype == torch.float32:
        return torch.backends.cudnn.flags(enabled=True, benchmark=True, allow_tf32=False)
    return nullcontext()
