"""Gates as a graph: which of the usable readings are kept."""

from typing import NamedTuple

import numpy as np

from mrac.gate.none import NoGate
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.lab.export.pipeline.anchors import Readings, is_flat
from mrac.lab.export.pipeline.graph import Graph, Tensor, masked_median
from mrac.lab.export.pipeline.status import code
from mrac.robust_line.theil_sen import MAD_TO_SIGMA, ROUNDING

GATES = (NoGate, TheilSenMad)
"""Those that a graph can express."""


class Gated(NamedTuple):
    """A gate's verdict.

    Attributes:
        keep: (N,) bool, False where a reading is not usable.
        status: scalar int64, see `status`.
    """

    keep: Tensor
    status: Tensor


def judge(graph: Graph, readings: Readings, gate: object) -> Gated:
    """The verdict of one of `GATES`, with the rules of `gate.base` for scenes that it cannot judge."""
    usable = readings.usable
    if not isinstance(gate, TheilSenMad):
        return Gated(usable, graph.node("Identity", code("ok")))
    count = usable.cast(np.int64).sum()
    few, flat = count < 3, is_flat(graph, readings.x, usable)
    near = _theil_sen_mad(graph, readings, count, float(gate.kappa)) & usable
    none = ~(near.cast(np.int64).sum() > 0)
    status = graph.where(none, code("all_anchors_rejected"), code("ok"))
    status = graph.where(flat, code("constant_relative_depth"), status)
    status = graph.where(few, code("too_few_anchors"), status)
    return Gated(near | (usable & (few | flat | none)), status)  # onnxruntime has no Where of booleans


def _theil_sen_mad(graph: Graph, readings: Readings, count: Tensor, kappa: float) -> Tensor:
    """(N,) which readings `robust_line.theil_sen.theil_sen_mad` keeps; of unusable ones anything."""
    usable, x, y, num = readings.usable, readings.x, readings.y, readings.num
    pairs = np.triu_indices(num, 1)
    first, second = (graph.node("Identity", one) for one in pairs)
    run = x.take(second) - x.take(first)
    distinct = usable.take(first) & usable.take(second) & ~run.equal(0.0)
    slopes = (y.take(second) - y.take(first)) / graph.where(distinct, run, 1.0)
    num_slopes = distinct.cast(np.int64).sum()
    slope = graph.where(num_slopes > 0, masked_median(slopes, distinct, num_slopes, pairs[0].size), 0.0)
    intercept = masked_median(y - slope * x, usable, count, num)
    residual = y - (slope * x + intercept)
    centre = masked_median(residual, usable, count, num)
    sigma = masked_median((residual - centre).apply("Abs"), usable, count, num) * MAD_TO_SIGMA
    terms = y.apply("Abs") + (slope * x).apply("Abs")
    largest = graph.where(usable, terms, 0.0).max() + intercept.apply("Abs")
    return residual.apply("Abs") <= sigma * kappa + largest * ROUNDING
