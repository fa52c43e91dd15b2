"""The graph of a whole calibrator, and of its foundation alone."""

from typing import Final, NamedTuple

import numpy as np
import onnx

from mrac.foundation.embedded import Embedded
from mrac.head._learned import LearnedHead
from mrac.lab.export.pipeline import foundation, gate, head
from mrac.lab.export.pipeline.anchors import read
from mrac.lab.export.pipeline.fit import FITS, solve
from mrac.lab.export.pipeline.graph import Graph, Tensor
from mrac.lab.export.pipeline.status import STATUSES, code
from mrac.pipeline import Calibrator
from mrac.registry import stage_name
from mrac.space import Space
from mrac.version import __version__

EXPRESSIBLE: Final[dict[str, tuple[type, ...]]] = {
    "foundation": (Embedded,),
    "gate": gate.GATES,
    "fit": FITS,
    "head": head.HEADS,
}
"""The implementations of each stage that are written as a graph."""


class Sizes(NamedTuple):
    """What is fixed in a file.

    Attributes:
        image: (H, W) of the images it takes.
        max_anchors: places for readings.
    """

    image: tuple[int, int]
    max_anchors: int


def missing_stages(calibrator: Calibrator) -> dict[str, str]:
    """The stages that are not written as a graph, and why; empty where the whole pipeline can be."""
    found: dict[str, str] = {}
    network = calibrator.foundation
    if isinstance(network, Embedded) and network.space not in ("log_depth", calibrator.space or network.space):
        found["foundation"] = f"its field in {network.space} is fitted in {calibrator.space}; one space is needed"
    for stage, known in EXPRESSIBLE.items():
        made = getattr(calibrator, stage)
        if not isinstance(made, known):
            names = ", ".join(one.__module__.rpartition(".")[2] for one in known)
            found[stage] = f"{stage} {stage_name(made)} is not written as a graph; those that are: {names}"
    made = calibrator.head
    if isinstance(made, LearnedHead) and made.head_file().form != "metres":
        found["head"] = f"its network takes anchors in the form {made.head_file().form}; only metres is written"
    return found


def foundation_model(network: Embedded, sizes: Sizes) -> onnx.ModelProto:
    """`image` to `log_depth`, (H, W) float32: what `Embedded` gives for the image, before any conversion."""
    graph = Graph()
    image = graph.input("image", np.uint8, (*sizes.image, 3))
    graph.output("log_depth", foundation.log_depth(graph, image, sizes.image, network), np.float32, sizes.image)
    return graph.model(_about(sizes, {"mrac.stages": "foundation"}))


def pipeline_model(calibrator: Calibrator, sizes: Sizes) -> onnx.ModelProto:
    """`image`, `anchors` and `count` to depth, deviation and verdicts; see `interface`. No stage may be missing."""
    graph, (size, num) = Graph(), sizes
    image = graph.input("image", np.uint8, (*size, 3))
    anchors = graph.input("anchors", np.float32, (num, 3))
    count = graph.input("count", np.int64, (1,)).take(0)
    network = calibrator.foundation
    assert isinstance(network, Embedded)
    space: Space = calibrator.space or network.space  # type: ignore[assignment]
    field = foundation.relative_depth(foundation.log_depth(graph, image, size, network), size, space)
    readings = read(anchors, count, num, field.values, size, space)
    gated = gate.judge(graph, readings, calibrator.gate)
    line = solve(graph, readings, gated.keep, field.middle, space)
    depth, sigma = (one.cast(np.float32) for one in head.affine(line, field.values.cast(np.float64), space))
    dense_status = graph.node("Identity", code("ok"))
    if isinstance(calibrator.head, LearnedHead):
        *dense, applies = head.learned(calibrator.head, image, field, readings, gated.keep, line, size)
        depth, sigma = (graph.where(applies, a, b) for a, b in zip(dense, (depth, sigma), strict=True))
        dense_status = graph.where(applies, code("ok"), code("affine_fallback"))
    graph.output("depth_m", depth, np.float32, size)
    graph.output("sigma_m", sigma, np.float32, size)
    graph.output("outlier_probability", (~gated.keep).cast(np.float32), np.float32, (num,))
    status = _status(graph, (line.status, gated.status, dense_status), gated.keep, count)
    graph.output("status", status.reshape(1), np.int64, (1,))
    stages = {name: stage_name(getattr(calibrator, name)) for name in EXPRESSIBLE}
    words = {"mrac.method": calibrator.method, "mrac.space": space, "mrac.stages": "foundation gate fit head"}
    return graph.model(_about(sizes, {**words, **{f"mrac.{name}": made for name, made in stages.items()}}))


def interface(sizes: Sizes) -> dict[str, dict[str, str]]:
    """Inputs and outputs of the pipeline, by name: type, shape, unit and meaning in words."""
    (H, W), N = sizes
    inputs = {
        "image": f"uint8 ({H}, {W}, 3), RGB",
        "anchors": f"float32 ({N}, 3), rows of u_px, v_px, z_m; pixel centres at integers, depth along the axis in "
        "metres; rows from count on are ignored",
        "count": "int64 (1,), how many rows are readings",
    }
    outputs = {
        "depth_m": f"float32 ({H}, {W}), metres",
        "sigma_m": f"float32 ({H}, {W}), standard deviation in metres",
        "outlier_probability": f"float32 ({N},), 0 kept, 1 rejected, unusable or no reading",
        "status": f"int64 (1,), index into {', '.join(STATUSES)}",
    }
    return {"inputs": inputs, "outputs": outputs}


def _status(graph: Graph, stages: tuple[Tensor, ...], keep: Tensor, count: Tensor) -> Tensor:
    """The first that is not `ok`; where all are, `mostly_unusable` if over half of the readings were not kept."""
    unused = count - keep.cast(np.int64).sum()
    status = graph.where(unused * 2 > count, code("mostly_unusable"), code("ok"))
    for one in reversed(stages):
        status = graph.where(one.equal(code("ok")), status, one)
    return status


def _about(sizes: Sizes, words: dict[str, str]) -> dict[str, str]:
    H, W = sizes.image
    known = {"mrac.version": __version__, "mrac.size": f"{H}x{W}", **words}
    if "mrac.method" not in words:
        outputs = f"log_depth: float32 ({H}, {W}), ln of depth in metres up to a shift"
        return {**known, "mrac.inputs": f"image: uint8 ({H}, {W}, 3), RGB", "mrac.outputs": outputs}
    sides = interface(sizes)
    described = {f"mrac.{side}": "; ".join(f"{k}: {v}" for k, v in sides[side].items()) for side in sides}
    return {**known, "mrac.max_anchors": str(sizes.max_anchors), **described}
