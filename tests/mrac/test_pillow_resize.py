"""The network's input and its field: what PIL makes of them, to the last bit."""

import numpy as np
import pytest
from PIL import Image

from mrac.conventions import FloatArray, ImageArray
from mrac.foundation.embedded import input_size
from mrac.pillow_resize import resized_planes
from mrac.relative import resize_field
from mrac.runtime import parallel

SIZES = [
    (1, 1),
    (1, 3),
    (2, 3),
    (32, 32),
    (123, 77),
    (240, 320),
    (288, 384),
    (480, 640),
    (481, 639),
    (640, 480),
    (90, 350),
]


def by_pil(image: ImageArray, shape: tuple[int, int]) -> FloatArray:
    resized = Image.fromarray(image).resize((shape[1], shape[0]), Image.Resampling.BICUBIC)
    return np.asarray(resized, dtype=np.float32).transpose(2, 0, 1)


def picture(size: tuple[int, int], *, hard: bool) -> ImageArray:
    """Noise; with hard edges the cubic overshoots, and is clipped."""
    values = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    return np.where(values > 127, 255, 0).astype(np.uint8) if hard else values


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_every_size_is_resized_as_pil_does(size: tuple[int, int], hard: bool) -> None:
    image, shape = picture(size, hard=hard), input_size(*size)
    np.testing.assert_array_equal(resized_planes(image, shape), by_pil(image, shape))


def test_any_layout_and_a_picture_that_cannot_be_written_are_taken() -> None:
    image = picture((48, 70), hard=False)
    locked = image.copy()
    locked.flags.writeable = False
    for one in (image[:, ::-1], image[::2], image[..., ::-1], np.asfortranarray(image), locked):
        np.testing.assert_array_equal(resized_planes(one, (64, 96)), by_pil(np.ascontiguousarray(one), (64, 96)))
    assert not locked.flags.writeable


@pytest.mark.parametrize("num_cores", [1, 2, 5])
def test_the_number_of_cores_changes_nothing(num_cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    image = picture((200, 150), hard=False)
    monkeypatch.setattr(parallel, "num_cores", lambda: num_cores)
    np.testing.assert_array_equal(resized_planes(image, (128, 96)), by_pil(image, (128, 96)))


@pytest.mark.parametrize("size", [*SIZES, (3, 2000), (700, 5)])
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (144, 192), (480, 640)])
def test_a_field_is_resized_as_pil_does(size: tuple[int, int], shape: tuple[int, int]) -> None:
    field = np.random.default_rng(0).normal(size=size).astype(np.float32)
    found = resize_field(field, shape)
    expected = np.asarray(Image.fromarray(field).resize((shape[1], shape[0]), Image.Resampling.BILINEAR))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    if size[0] <= shape[0] and size[1] <= shape[1]:  # else PIL 13 may begin with the other axis
        np.testing.assert_array_equal(found, expected)


def test_holes_of_a_field_spread_as_pil_lets_them() -> None:
    field = np.ones((20, 30), np.float32)
    field[3, 4], field[10, 20], field[15, 2] = np.nan, np.inf, -np.inf
    resized = Image.fromarray(field).resize((64, 48), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(resize_field(field, (48, 64)), np.asarray(resized))


def test_a_field_of_any_layout_is_resized() -> None:
    field = np.random.default_rng(0).normal(size=(40, 60))
    field.flags.writeable = False
    for one in (field, field.astype(np.float32)[:, ::-1], field.astype(np.float32).T):
        expected = Image.fromarray(np.ascontiguousarray(one, np.float32)).resize((90, 70), Image.Resampling.BILINEAR)
        np.testing.assert_array_equal(resize_field(one, (70, 90)), np.asarray(expected))
