"""That the GPU path is right and waits for nothing: agreement with the CPU, and the profile of a call.

Used by `gpu_speed`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch

from mrac import Anchors, Calibrator
from mrac.conventions import ImageArray
from mrac.gpu import GpuCalibrator

_WAITS: Final = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy")


def agreement(calibrator: GpuCalibrator, frames: Sequence[tuple[ImageArray, Anchors]]) -> dict[str, Any]:
    """How far depth and verdicts are from those of `mrac.Calibrator` on the CPU, over all frames."""
    reference, equal, readings = Calibrator("default", foundation="embedded"), 0, 0
    worst, mean, deviation, probability = [], [], [], []
    for image, anchors in frames:
        expected, found = reference(image, anchors), calibrator.frames([image], [anchors])[0]
        off = np.abs(found.depth_m.cpu().numpy() / expected.depth_m - 1.0)
        worst.append(float(off.max()))
        mean.append(float(off.mean()))
        change = np.abs(found.sigma_m.cpu().numpy() - expected.sigma_m) / expected.depth_m
        deviation.append(float(change.max()))
        equal += int((found.keep.cpu().numpy() == expected.anchors.keep).sum())
        readings += len(anchors.z_m)
        change = np.abs(found.outlier_probability.cpu().numpy() - expected.anchors.outlier_probability)
        probability.append(float(change.max()))
    return {
        "frames": len(frames),
        "largest_relative_difference": max(worst),
        "frames_within_1e-4": sum(one <= 1e-4 for one in worst),
        "mean_relative_difference": float(np.mean(mean)),
        "largest_difference_of_deviation_by_depth": max(deviation),
        "verdicts_equal": f"{equal} of {readings}",
        "largest_difference_of_outlier_probability": max(probability),
    }


def profile(run: Callable[[], Any]) -> dict[str, Any]:
    """One call of a recording on a GPU: that nothing waits, what runs, and how long the device is busy."""
    run()
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")  # whatever waits raises
    try:
        run()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.cuda.synchronize()
    events, of_nothing = _events(run), _events(lambda: None)
    on_device = [event for event in events if event.device_type.name == "CUDA"]
    on_device.sort(key=lambda event: -event.self_device_time_total)
    return {
        "sync_debug_mode_error": "passed",
        "host_waits": _waits(events),
        "host_waits_of_the_profiler_itself": _waits(of_nothing),
        "graph_launches": sum(e.count for e in events if "GraphLaunch" in e.key),
        "kernels": sum(e.count for e in on_device),
        "device_ms": sum(e.self_device_time_total for e in on_device) / 1e3,
        "longest": [
            {"kernel": e.key[:90], "count": e.count, "ms": e.self_device_time_total / 1e3} for e in on_device[:25]
        ],
    }


def _events(run: Callable[[], Any]) -> list[Any]:
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as seen:
        run()
        end = torch.cuda.Event()  # type: ignore[no-untyped-call]
        end.record()
        while not end.query():  # type: ignore[no-untyped-call]  # not a wait of the runtime's, which would be counted
            pass
    return list(seen.key_averages())


def _waits(events: Sequence[Any]) -> dict[str, int]:
    return {name: sum(e.count for e in events if e.key == name) for name in _WAITS}
