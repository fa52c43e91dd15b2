"""What every registered gate must do."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mrac import registry
from mrac.gate.base import Gate, LineGate
from mrac.gate.none import NoGate
from mrac.gate.range import RangeGate
from mrac.types import WORST_SCORE, GateResult, Samples

GATES = registry.names("gate")
DEPTHS = st.floats(1e-3, 1e4)
RELATIVE = st.floats(-1e6, 1e6, width=32)


def check(result: GateResult, K: int) -> None:
    assert result.keep.shape == result.score.shape == result.reason.shape == result.weight.shape == (K,)
    assert result.keep.dtype == np.bool_
    assert np.isfinite(result.score).all()
    assert (result.score >= 0).all()
    assert (result.score <= WORST_SCORE).all()
    assert (result.weight >= 0).all()
    assert (result.weight <= 1).all()
    if result.outlier_probability is None:
        assert ((result.weight >= 0.5) == result.keep).all()
    else:
        probability = result.outlier_probability
        assert ((probability >= 0) & (probability <= 1)).all()
        assert probability[result.keep].max(initial=0.0) <= probability[~result.keep].min(initial=1.0)
    assert all(result.reason)
    assert result.status


@cache
def create(name: str) -> Gate:
    made = registry.create("gate", name)
    assert isinstance(made, Gate)
    return made


@pytest.mark.parametrize("name", GATES)
class TestEveryGate:
    @example(points=[(0.0, 1.0), (0.0, 6.0), (0.0, 9.0)], space="depth")  # one is kept at a weight of 0.35
    @settings(max_examples=60, deadline=None)
    @given(points=st.lists(st.tuples(RELATIVE, DEPTHS), max_size=30), space=st.sampled_from(["depth", "log_depth"]))
    def test_any_scene_gets_a_verdict(self, name: str, points: list[tuple[float, float]], space: str) -> None:
        x, z = (np.array(values, dtype=np.float64) for values in (zip(*points, strict=True) if points else ([], [])))
        samples = Samples(np.zeros((x.size, 2)), z, x, space, True, np.ones(x.size))  # type: ignore[arg-type]
        check(create(name)(samples), x.size)

    def test_keeps_clean_affine_anchors(self, name: str, make_samples: Callable[..., Samples]) -> None:
        x = np.random.default_rng(0).random(50)
        result = create(name)(make_samples(x, 3 * x + 1))
        assert result.keep.all()
        assert result.status == "ok"

    def test_without_relative_depth(self, name: str, make_samples: Callable[..., Samples]) -> None:
        """A gate around a line keeps all and says so; any other must find an outlier among its neighbours."""
        gate, few = create(name), make_samples(None, [1.0, 2.0, 3.0, 40.0])
        check(gate(few), 4)
        if isinstance(gate, LineGate | NoGate | RangeGate):
            assert gate(few).keep.all()
            assert (gate(few).reason == "unjudged").all()
            assert gate(few).status == ("no_relative_depth" if isinstance(gate, LineGate) else "ok")
        else:
            v, u = np.mgrid[0:480:60, 0:640:80]
            z = 2.0 + v.ravel() / 480 + u.ravel() / 6400  # no two alike: a value that repeats may be a sentinel
            uv_px = np.stack([u.ravel(), v.ravel()], axis=1).astype(np.float64)
            clean = gate(Samples(uv_px, z, None, "log_depth", False, np.ones(z.size)))
            assert clean.keep.all()
            assert clean.status == "ok"
            z[27] *= 0.3
            result = gate(Samples(uv_px, z, None, "log_depth", False, np.ones(z.size)))
            check(result, z.size)
            assert np.flatnonzero(~result.keep).tolist() == [27]
            assert result.reason[27] == "nearer_than_neighbours"
            assert result.status == "ok"

    def test_is_deterministic_and_leaves_its_input_alone(self, name: str, make_samples: Callable[..., Samples]) -> None:
        rng = np.random.default_rng(3)
        samples = make_samples(rng.random(40), rng.random(40) + 1)
        before = samples.z_m.copy()
        first, second = create(name)(samples), create(name)(samples)
        np.testing.assert_array_equal(first.keep, second.keep)
        np.testing.assert_array_equal(first.score, second.score)
        np.testing.assert_array_equal(samples.z_m, before)


@pytest.mark.parametrize("name", [n for n in GATES if n not in ("none", "range")])
@pytest.mark.parametrize("space", ["depth", "inverse_depth", "log_depth"])
def test_rejects_gross_outliers_and_names_their_side(
    name: str, space: str, make_samples: Callable[..., Samples]
) -> None:
    rng = np.random.default_rng(1)
    depth_m = rng.uniform(2.0, 4.0, 60)
    y = {"depth": depth_m, "inverse_depth": 1 / depth_m, "log_depth": np.log(depth_m)}[space]
    read = depth_m * (1 + 0.003 * rng.normal(size=60))
    read[:5] *= 0.3
    read[5:10] *= 3.0
    result = registry.create("gate", name)(make_samples(2 * y - 1, read, space))
    assert not result.keep[:10].any()
    assert result.keep[10:].mean() > 0.8
    assert all(reason.startswith("nearer_than") for reason in result.reason[:5])
    assert all(reason.startswith("farther_than") for reason in result.reason[5:10])
    assert result.score[:10].min() > result.score[10:][result.keep[10:]].max()
