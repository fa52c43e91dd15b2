"""Gate and fit as a graph beside the library's own, on any readings."""

from functools import cache
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mrac.fit.ols import Ols
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.lab.export.pipeline import gate
from mrac.lab.export.pipeline.anchors import Readings
from mrac.lab.export.pipeline.fit import solve
from mrac.lab.export.pipeline.graph import Graph
from mrac.lab.export.pipeline.status import STATUSES
from mrac.space import SPACES, Space, to_space
from mrac.types import Samples

NUM = 14
X_RANGE = (0.4, 1.6)
# A coarse grid, so that equal x, equal y and readings exactly on the edge of the test are common.
POINTS = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 40)), max_size=NUM)


@cache
def session(space: Space, kappa: float) -> Any:
    graph = Graph()
    x, z = (graph.input(name, np.float64, (NUM,)) for name in ("x", "z"))
    usable = graph.input("usable", np.bool_, (NUM,))
    y = {"depth": z, "log_depth": z.apply("Log"), "inverse_depth": 1.0 / z}[space]
    readings = Readings(usable, x, x, z.apply("Log"), x, y, NUM)
    gated = gate.judge(graph, readings, TheilSenMad(kappa=kappa))
    line = solve(graph, readings, gated.keep, graph.node("Identity", sum(X_RANGE) / 2), space)
    graph.output("keep", gated.keep, np.bool_, (NUM,))
    for name in ("scale", "shift", "var_scale", "covariance", "var_shift", "sigma"):
        graph.output(name, getattr(line, name), np.float64, ())
    for name, status in (("gate_status", gated.status), ("fit_status", line.status)):
        graph.output(name, status, np.int64, ())
    return onnxruntime.InferenceSession(graph.model({}).SerializeToString())


def samples(x: NDArray[np.float64], z: NDArray[np.float64], space: Space) -> Samples:
    uv = np.column_stack([np.arange(x.size), np.arange(x.size)]).astype(np.float64)
    return Samples(uv, z, x, space, native=True, weight=np.ones(x.size), x_range=X_RANGE)


@pytest.mark.parametrize("space", SPACES)
@settings(max_examples=150, deadline=None)
@given(points=POINTS, kappa=st.sampled_from([0.0, 1.0, 2.0]))
@example(points=[], kappa=2.0)
@example(points=[(3, 4)], kappa=2.0)
@example(points=[(3, 4), (5, 2)], kappa=2.0)  # falls: the impossible sign
@example(points=[(3, 2), (5, 4)], kappa=2.0)
@example(points=[(3, 4)] * 5, kappa=2.0)
@example(points=[(1, 9), (2, 1), (3, 8), (4, 2)], kappa=0.0)
def test_verdicts_are_equal_and_lines_to_rounding(space: Space, points: list[tuple[int, int]], kappa: float) -> None:
    x, z = np.array(points, np.float64).reshape(-1, 2).T / 8.0
    given_samples = samples(x, z, space)
    gated = TheilSenMad(kappa=kappa)(given_samples)
    fit = Ols()(given_samples.keep(gated.for_fit, gated.weight))
    padded = np.zeros((2, NUM))
    padded[:, : x.size] = x, z
    padded[1, x.size :] = 1.0
    outputs = session(space, kappa).run(None, {"x": padded[0], "z": padded[1], "usable": np.arange(NUM) < x.size})
    keep, scale, shift, var_scale, covariance, var_shift, sigma, gate_status, fit_status = outputs
    np.testing.assert_array_equal(keep[: x.size], gated.keep)
    assert not keep[x.size :].any()
    assert (STATUSES[gate_status], STATUSES[fit_status]) == (gated.status, _with_rounding(fit.scale, fit.status, scale))
    unit = float(np.abs(to_space(z, space)).max(initial=1.0))
    np.testing.assert_allclose([scale, shift], [fit.scale, fit.shift], rtol=1e-9, atol=1e-9 * unit)
    expected = [fit.covariance[0, 0], fit.covariance[0, 1], fit.covariance[1, 1], fit.sigma**2]
    np.testing.assert_allclose([var_scale, covariance, var_shift, sigma**2], expected, rtol=1e-6, atol=1e-12 * unit**2)


def _with_rounding(scale: float, status: str, other: float) -> str:
    """The library's status, but where the slope is 0 up to rounding: its sign then decides nothing."""
    return (
        status
        if abs(scale) > 1e-12 or status not in ("ok", "negative_slope")
        else ("negative_slope" if other < 0.0 else "ok")
    )
