"""What every registered method must do, end to end, through the public class."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import Anchors, Calibrator, ContractError, MetricDepth, RelativeDepth, registry
from mrac.registry import stage_name
from tests.conftest import MadeScene
from tests.contract.test_head import NOT_ON_THE_FIT

NEED_TORCH = ("vi_depth",)  # a published checkpoint
METHODS = [
    pytest.param(name, marks=pytest.mark.lab) if name in NEED_TORCH else name for name in registry.names("method")
]
ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)
NEARLY = st.one_of(ANY_FLOAT, st.floats(-2, 20), st.integers(-2, 20).map(float))


@cache
def calibrator(name: str) -> Calibrator:
    return Calibrator(name, foundation="none")


def check(out: MetricDepth, shape: tuple[int, int], K: int) -> None:
    for field in (out.depth_m, out.sigma_m):
        assert field.shape == shape
        assert field.dtype == np.float32
        assert np.isfinite(field).all()
        assert (field > 0).all()
    assert out.anchors.keep.shape == out.anchors.score.shape == out.anchors.reason.shape == (K,)
    assert np.isfinite(out.anchors.score).all()
    assert all(out.anchors.reason)
    assert out.status


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=60, deadline=None)
@given(
    readings=st.lists(st.tuples(NEARLY, NEARLY, NEARLY), max_size=12),
    relative=st.one_of(st.none(), st.sampled_from(["depth", "inverse_depth", "log_depth"])),
    fill=st.sampled_from([1.0, 0.0, np.nan, np.inf, -np.inf, 1e30, 1e-30]),
)
def test_no_input_gives_a_nan(
    name: str, readings: list[tuple[float, float, float]], relative: str | None, fill: float
) -> None:
    table = np.array(readings).reshape(-1, 3)
    rng = np.random.default_rng(len(readings))
    image = rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)
    field = None
    if relative is not None:
        values = rng.random((12, 16))
        values[2:8, 3:9] = fill
        field = RelativeDepth(values, relative)
    try:
        out = calibrator(name)(image, Anchors(table[:, :2], table[:, 2]), relative=field)
    except ContractError as error:
        if "none of the" not in str(error):  # only a scene without one usable reading may be refused
            raise
        return
    check(out, (12, 16), len(table))


@pytest.mark.parametrize("name", METHODS)
def test_k_0_and_1_degrade_by_name(name: str, make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    none = calibrator(name)(made.image, Anchors(np.zeros((0, 2)), []), relative=made.relative)
    check(none, (60, 80), 0)
    assert none.status == "no_anchors"
    one = calibrator(name)(made.image, Anchors([[3, 4]], [2.0]), relative=made.relative)
    check(one, (60, 80), 1)
    assert one.status == "one_anchor"
    assert one.depth_m[4, 3] == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("name", METHODS)
def test_a_good_scene_is_ok(name: str, make_scene: Callable[..., MadeScene]) -> None:
    # One that has learnt to correct a fit is to have something to correct.
    own = calibrator(name)
    exact = own.head.trained_space is None
    made = make_scene(space=(own.space if exact else None) or "depth")
    out = own(made.image, made.anchors, relative=made.relative)
    assert out.status == "ok"
    on_fit = stage_name(own.head) not in NOT_ON_THE_FIT
    if exact and on_fit:
        np.testing.assert_allclose(out.depth_m, made.depth_m, rtol=0.02)
    if on_fit:  # what training taught is no other scene
        assert np.abs(np.log(out.depth_m / made.depth_m)).mean() < 0.5
