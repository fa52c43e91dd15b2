import numpy as np
import pytest

from mrac import ContractError
from mrac.lab.data._crops import crop_mask, crop_window, kb_window


@pytest.mark.parametrize(
    ("name", "shape", "rows", "columns"),
    [
        ("garg", (375, 1242), (153, 371), (44, 1197)),
        ("garg", (352, 1216), (143, 349), (43, 1172)),
        ("eigen", (375, 1242), (124, 342), (44, 1197)),
        ("eigen", (352, 1216), (117, 321), (43, 1172)),
        ("nyu", (480, 640), (45, 471), (41, 601)),
    ],
)
def test_published_numbers(name: str, shape: tuple[int, int], rows: tuple[int, int], columns: tuple[int, int]) -> None:
    assert crop_window(name, shape) == (slice(*rows), slice(*columns))
    mask = crop_mask(name, shape)
    assert mask[rows[0], columns[0]]
    assert mask[rows[1] - 1, columns[1] - 1]
    assert mask.sum() == (rows[1] - rows[0]) * (columns[1] - columns[0])


def test_the_benchmark_crop() -> None:
    assert kb_window((375, 1242)) == (slice(23, 375), slice(13, 1229))
    assert kb_window((376, 1241)) == (slice(24, 376), slice(12, 1228))
    assert np.zeros((352, 1216))[kb_window((352, 1216))].shape == (352, 1216)
    with pytest.raises(ContractError, match="needs 352 × 1216"):
        kb_window((351, 1242))


def test_none_is_the_whole_image_and_others_are_named() -> None:
    assert crop_mask("none", (3, 4)).all()
    with pytest.raises(ContractError, match="known: none, nyu, garg, eigen"):
        crop_mask("grag", (3, 4))
    with pytest.raises(ContractError, match="is for 480 × 640"):
        crop_mask("nyu", (530, 730))
