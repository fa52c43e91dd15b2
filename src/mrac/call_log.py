"""The log of a call, under the logger `mrac.pipeline`: what was decided and why at INFO, the times at DEBUG."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from mrac.result import MetricDepth

_LOG: Final = logging.getLogger("mrac.pipeline")


@contextmanager
def timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Writes the wall time of the `with` block, in milliseconds, to `timings` under the stage's name."""
    start = time.perf_counter()
    yield
    timings[stage] = (time.perf_counter() - start) * 1e3


def logged(result: "MetricDepth", *, use_relative: bool) -> "MetricDepth":
    """The result as it is, after a line on each thing that was decided.

    Args:
        result: of a call.
        use_relative: whether the gate left the foundation's field in use.
    """
    if not _LOG.isEnabledFor(logging.INFO):  # counting reasons takes time that nobody would see the result of
        return result
    verdicts, (H, W) = result.anchors, result.depth_m.shape
    rejected = dict(zip(*np.unique(verdicts.reason[~verdicts.keep], return_counts=True), strict=True))
    why = "".join(f", {word} ×{count}" for word, count in rejected.items())
    _LOG.info("%s: %d×%d, kept %d of %d readings%s", result.status, W, H, int(verdicts.keep.sum()), len(verdicts), why)
    if not use_relative:
        _LOG.info("the relative depth of %s is not used: the readings contradict it", result.stages["foundation"])
    for finding in result.warnings:
        _LOG.info("%s: %s: %s", finding.name, finding.message, finding.advice)
    if result.device.reason:
        _LOG.info("device %s: %s", result.device.asked, result.device.reason)
    _LOG.debug("stages %s; cache %s; providers %s", result.stages, result.cache, result.device.providers)
    _LOG.debug("ms: %s", ", ".join(f"{stage} {ms:.1f}" for stage, ms in result.timings_ms.items()))
    return result
