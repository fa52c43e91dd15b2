"""What a checkpoint states about its input, and the sizes that follow."""

from typing import Any

import pytest

from mrac import ContractError
from mrac.foundation._input import MAX_PIXELS, Settings, covering_size, nearest_size

ANYTHING = Settings((518, 518), True, 14, 3, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@pytest.mark.parametrize(
    ("shape", "transformers", "original"),
    [
        ((480, 640), (518, 686), (518, 686)),
        ((240, 320), (392, 518), (518, 686)),
        ((192, 256), (392, 518), (518, 686)),
        ((375, 1242), (518, 1722), (518, 1722)),
        ((1080, 1920), (518, 924), (518, 924)),
        ((272, 1036), (140, 518), (518, 1974)),
        ((20, 2000), (14, 518), None),
    ],
)
def test_the_two_rules_differ_where_they_are_known_to(
    shape: tuple[int, int], transformers: tuple[int, int], original: tuple[int, int] | None
) -> None:
    assert nearest_size(shape, ANYTHING) == transformers
    if original is not None:
        assert covering_size(shape, ANYTHING) == original


@pytest.mark.parametrize("shape", [(500, 100_000), (100_000, 500), (1, 50_000), (7071, 7071), (1, 1), (2_000_000, 25)])
@pytest.mark.parametrize("rule", [nearest_size, covering_size])
def test_no_image_makes_a_huge_input(shape: tuple[int, int], rule: Any) -> None:
    height, width = rule(shape, ANYTHING)
    assert height % 14 == width % 14 == 0
    assert min(height, width) >= 14
    assert height * width <= MAX_PIXELS


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({"do_normalize": False}, "do_normalize"),
        ({"size": {"shortest_edge": 384}}, "size"),
        ({"size": {"height": 0, "width": 3}}, "> 0"),
        ({"image_std": [1, 0, 1]}, "> 0"),
        ({"image_mean": "grey"}, "image_mean"),
        ({"resample": 9}, "filters"),
    ],
)
def test_settings_that_cannot_be_followed_are_refused(stated: dict[str, Any], says: str) -> None:
    with pytest.raises(ContractError, match=says):
        ANYTHING.override(stated, "here")


def test_settings_as_old_checkpoints_write_them() -> None:
    changed = ANYTHING.override({"size": 384, "image_mean": 0.5, "ensure_multiple_of": None}, "here")
    assert changed.size == (384, 384)
    assert changed.mean == (0.5, 0.5, 0.5)
    assert changed.multiple == 14
