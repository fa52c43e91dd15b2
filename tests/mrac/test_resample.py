"""Against torch, which makes the float copy of the whole image that ours avoids."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from mrac.resample import cubic_taps, linear_taps, sample

SIZES = [((37, 53), (29, 64)), ((7, 5), (56, 3)), ((64, 48), (64, 48)), ((1, 9), (4, 1))]


def interpolated(image: np.ndarray[Any, Any], size: tuple[int, int], mode: str, align: bool) -> np.ndarray[Any, Any]:
    batch = torch.from_numpy(image.astype(np.float32)).permute(2, 0, 1)[None]
    return functional.interpolate(batch, size=size, mode=mode, align_corners=align)[0].permute(1, 2, 0).numpy()


@pytest.mark.parametrize(("shape", "size"), SIZES)
@pytest.mark.parametrize("align", [True, False])
def test_linear_is_torch_s(shape: tuple[int, int], size: tuple[int, int], align: bool) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    rows, columns = (linear_taps(shape[i], size[i], align_corners=align) for i in (0, 1))
    np.testing.assert_allclose(sample(image, rows, columns), interpolated(image, size, "bilinear", align), atol=2e-3)


@pytest.mark.parametrize(("shape", "size"), SIZES)
def test_cubic_is_torch_s_and_so_opencv_s(shape: tuple[int, int], size: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    rows, columns = (cubic_taps(shape[i], size[i]) for i in (0, 1))
    np.testing.assert_allclose(sample(image, rows, columns), interpolated(image, size, "bicubic", False), atol=2e-3)


@pytest.mark.parametrize(("size", "pad"), [(32, 12), (5, 4), (4, 4), (1, 2)])
def test_a_mirrored_border_is_numpy_s(size: int, pad: int) -> None:
    line = np.random.default_rng(0).integers(0, 256, (size, 1, 3), dtype=np.uint8)
    padded = np.pad(line, ((pad, pad), (0, 0), (0, 0)), mode="reflect")
    column = linear_taps(1, 1, align_corners=True)
    taps = linear_taps(size + 2 * pad, 17, align_corners=True)
    np.testing.assert_array_equal(sample(line, taps.reflected(size, pad), column), sample(padded, taps, column))
