"""Learned heads on a device of torch's: all conditions of an image go through the network together."""

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import ImageArray
from mrac.errors import MissingExtra, first_line
from mrac.head.base import Head, HeadResult, Scene
from mrac.head.raw_unet import RawUnet
from mrac.head.residual_unet import ResidualUnet
from mrac.head.sml import Sml
from mrac.pipeline import Calibrator
from mrac.registry import stage_name, stage_options
from mrac.result import MetricDepth
from mrac.types import RelativeDepth

BatchedHead = Callable[[Sequence[Scene]], list[HeadResult]]
"""From scenes of one image, with one relative field, to what the head says of each."""


def on_device(calibrator: Any, device: str) -> Any:
    """The calibrator as the benchmark should call it.

    Args:
        calibrator: a `Calibrator`.
        device: `cpu` is without torch; anything else is torch's name of a device, on which networks of heads run. So
            `cpu:0` takes this way on the CPU, to compare the two.

    Returns:
        `calibrator` itself on `cpu`, and where its head has no network that torch runs; else a `Batched`.

    Raises:
        ContractError: the weights that torch needs are not beside those that are named.
        MissingExtra: torch is not installed.
    """
    head = None if device == "cpu" else calibrator.head
    batched: BatchedHead
    try:
        # By their very class: how another one composes depth is not known here.
        if type(head) is ResidualUnet or type(head) is RawUnet:
            from mrac.lab.bench.device.learned import LearnedOnDevice  # noqa: PLC0415  (needs torch)

            batched = LearnedOnDevice(head, device)
        elif type(head) is Sml and not head.global_alignment_only:
            from mrac.lab.bench.device.scale_map import SmlOnDevice  # noqa: PLC0415

            batched = SmlOnDevice(head, device)
        else:
            return calibrator
    except ModuleNotFoundError:
        raise MissingExtra(f"bench --device {device}", "torch") from None
    return Batched(calibrator, batched)


class _SceneRecorder(Head):
    """A head that computes nothing: it keeps the scene it was given."""

    def __init__(self) -> None:
        self.scene: Scene | None = None

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; one number stands for the depth to come."""
        self.scene = scene
        to_come = np.broadcast_to(np.float32(1.0), scene.shape)
        return HeadResult(to_come, to_come)


class Batched:
    """A calibrator for all conditions of an image at once.

    Args:
        calibrator: all stages but the head are its own, one condition after the other.
        head: in place of its head.
    """

    def __init__(self, calibrator: Calibrator, head: BatchedHead) -> None:
        self._calibrator = copy.copy(calibrator)
        self._recorder = self._calibrator.head = _SceneRecorder()
        self._stage = {"head": stage_name(calibrator.head)}, {"head": stage_options(calibrator.head)}
        self._head = head

    def all_conditions(
        self, image: ImageArray, anchors: Sequence[Anchors], relative: RelativeDepth | None
    ) -> list[MetricDepth | Exception]:
        """A result for each of the anchors, or what was raised; each says that the head took its share of the time.

        Raises:
            OSError: the device failed, for want of memory or otherwise: no row of a table should say so.
        """
        fitted = [self._fitted(image, one, relative) for one in anchors]
        scenes = [one[1] for one in fitted if not isinstance(one, Exception)]
        start = time.perf_counter()
        try:
            dense = self._head(scenes)
        except RuntimeError as error:  # torch's own; ours are ValueErrors
            raise OSError(f"bench: the device failed ({first_line(error)}); fewer --workers need less memory") from None
        except Exception as error:  # of weights or options: it is that of every condition
            return [one if isinstance(one, Exception) else error for one in fitted]
        head_ms = (time.perf_counter() - start) * 1e3 / max(len(scenes), 1)
        left = iter(dense)
        return [one if isinstance(one, Exception) else self._with_depth(one[0], next(left), head_ms) for one in fitted]

    def _fitted(
        self, image: ImageArray, anchors: Anchors, relative: RelativeDepth | None
    ) -> tuple[MetricDepth, Scene] | Exception:
        """The result without its depth, and the scene for the head."""
        try:
            result = self._calibrator(image, anchors, relative)
        except Exception as error:  # as in `methods.calibrate_all`
            return error
        assert self._recorder.scene is not None
        return result, self._recorder.scene

    def _with_depth(self, result: MetricDepth, dense: HeadResult, head_ms: float) -> MetricDepth:
        names, options = self._stage
        return replace(
            result,
            depth_m=dense.depth_m,
            sigma_m=dense.sigma_m,
            status=dense.status if result.status == "ok" else result.status,
            stages={**result.stages, **names},
            options={**result.options, **options},
            timings_ms={**result.timings_ms, "head": head_ms},
        )
