"""What counts as numbers, wherever numbers are taken: masked ones are missing, and nothing else becomes a number."""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError, RelativeDepth
from mrac.anchors.depth_map import from_depth_map
from mrac.clouds import PointCloud
from mrac.conventions import as_numbers

IMAGE = np.random.default_rng(0).integers(0, 255, (40, 50, 3), dtype=np.uint8)
UV = np.random.default_rng(1).uniform(2, 37, (20, 2))
WRONG = np.arange(20) < 6
Z = np.where(WRONG, 900.0, 2.0 + UV[:, 1] / 40)


def test_a_masked_reading_is_not_used() -> None:
    """Before, the mask was dropped and the 900 m beneath it were used as readings."""
    out = Calibrator(foundation="none", gate="none")(IMAGE, Anchors(UV, np.ma.masked_array(Z, WRONG)))
    assert out.depth_m.max() < 10.0
    assert not out.anchors.keep[WRONG].any()
    assert set(out.anchors.reason[WRONG]) == {"not_finite"}


@pytest.mark.parametrize(
    "masked",
    [
        np.ma.masked_array([1.0, 900.0, 3.0], [False, True, False]),
        np.ma.masked_array([1, 900, 3], [False, True, False]),
        [1.0, np.ma.masked, 3.0],
        (1, np.ma.masked, 3),
        [1.0, None, 3.0],
    ],
    ids=["floats", "whole", "list", "tuple", "None"],
)
def test_a_masked_number_is_missing(masked: Any) -> None:
    np.testing.assert_array_equal(as_numbers(masked, "test"), [1.0, np.nan, 3.0])


def test_masked_rows_in_a_list_are_missing() -> None:
    rows = [np.ma.masked_array([1.0, 2.0], [False, True]), np.array([3.0, 4.0])]
    np.testing.assert_array_equal(as_numbers(rows, "test"), [[1.0, np.nan], [3.0, 4.0]])


def test_masked_relative_depth_has_no_value_there() -> None:
    mask = np.eye(5, dtype=bool)
    found = RelativeDepth(np.ma.masked_array(np.ones((5, 5)), mask), "depth").values
    np.testing.assert_array_equal(np.isnan(found), mask)
    assert type(found) is np.ndarray


@pytest.mark.parametrize("kind", [np.float32, np.uint16])
def test_masked_pixels_of_a_depth_image_give_no_reading(kind: type) -> None:
    depth: Any = np.ma.masked_array(np.full((8, 9), 2000, kind), np.arange(72).reshape(8, 9) < 30)
    found = from_depth_map(depth, scale="mm")
    assert len(found) == 42
    np.testing.assert_array_equal(found.z_m, 2.0)
    if kind is np.uint16:  # a mask does not make it a map of metres
        with pytest.raises(ContractError, match="scale"):
            from_depth_map(depth)


def test_masked_points_are_missing() -> None:
    cloud = PointCloud(np.ma.masked_array(np.ones((3, 3)), np.eye(3, dtype=bool)))
    assert np.isnan(cloud.xyz_m).sum() == 3


def test_a_masked_image_is_refused_with_what_to_write() -> None:
    with pytest.raises(ContractError, match=r"masked.*filled\(0\)"):
        Calibrator(foundation="none")(np.ma.masked_array(IMAGE, IMAGE > 9), Anchors(UV, Z))


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (["3"], "text"),
        ([b"3"], "text"),
        ([1.0, "2"], "text"),
        (np.array(["3"], object), "text"),
        ([True], "truth"),
        (np.array([True, 2.0], object), "truth"),
        (np.array(["2026-01-01"], "M8[D]"), "dates"),
        (np.array([5], "m8[s]"), "dates"),
        ([datetime.date(2026, 1, 1)], "date"),
        ([1j], "complex"),
        ([{}], "dict"),
        ([10**400], "large"),
        ([[1.0], [1.0, 2.0]], "one shape"),
        (np.zeros(2, [("u", float), ("v", float)]), "columns"),
    ],
)
def test_what_is_no_number_is_refused(values: Any, word: str) -> None:
    with pytest.raises(ContractError, match=rf"^where: .*{word}"):
        as_numbers(values, "where")


def test_ragged_relative_depth_is_refused() -> None:
    with pytest.raises(ContractError, match="one shape"):
        RelativeDepth([[1.0, 2.0], [3.0]], "depth")
    with pytest.raises(ContractError, match="one shape"):
        Anchors(UV[:2], [1.0, 2.0], flag=[["a"], ["b", "c"]])


@pytest.mark.parametrize("number", [Decimal("1.5"), Fraction(3, 2), np.float32(1.5), np.longdouble(1.5)])
def test_every_kind_of_number_is_taken(number: Any) -> None:
    np.testing.assert_array_equal(as_numbers([number], "test"), [1.5])
