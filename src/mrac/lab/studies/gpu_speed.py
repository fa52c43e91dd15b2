"""Speed and agreement of `mrac.gpu.GpuCalibrator` on a device, and the paper's scheme beside it.

    python -m mrac.lab.studies.gpu_speed --data ../shared/data/train --device cuda --out results/gpu
    python -m mrac.lab.studies.gpu_speed --device cpu --shape 60x80 --batches 1 2 --runs 1 --warmup 0 --frames 1
    python -m mrac.lab.studies.gpu_speed --device cuda --only paper

Timed per batch size and precision of the network, each as one recording that is played: end to end (inputs are on the
device), foundation alone, foundation and appearance, and gate + fit + kriging alone. Half precision against single:
mean relative difference of the relative field and of metric depth. Agreement: frames of the pack, a quarter of the
readings too near, against `mrac.Calibrator` on the CPU. Profile: one call under `set_sync_debug_mode("error")`, then
under torch's profiler, with the calls of the runtime that wait for the device counted. Without --data images are noise
and readings are random, which times the same work.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from mrac import Anchors, Calibrator
from mrac.conventions import ImageArray
from mrac.gpu import GpuCalibrator, Tuning
from mrac.gpu.graph import Recording
from mrac.gpu.linear_algebra import own_kernels
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.gpu_paper import paper_scheme
from mrac.lab.studies.protocol import draw_anchors, results_folder, truth_of, write_results

PRECISIONS: Final = ("float32", "float16", "bfloat16")
NUM_ANCHORS: Final = 50
MAX_ANCHORS: Final = 64
_WAITS: Final = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy")

Frames = list[tuple[ImageArray, Anchors]]


def frames_of(data: Path | None, set_name: str, shape: tuple[int, int], num: int) -> Frames:
    """Frames of a pack that have the size, with a quarter of the readings at 0.2 to 0.6 of their depth."""
    rng = np.random.default_rng(0)
    if data is None:
        return [_noise(rng, shape) for _ in range(num)]
    found: Frames = []
    for frame in read_manifest(data, set_name):
        image = frame.image()
        if image.shape[:2] == shape and len(found) < num:
            anchors = draw_anchors(frame, truth_of(frame), NUM_ANCHORS, 0)
            wrong = rng.random(len(anchors.z_m)) < 0.25
            z_m = np.where(wrong, anchors.z_m * rng.uniform(0.2, 0.6, wrong.size), anchors.z_m)
            found.append((image, Anchors(anchors.uv_px, z_m)))
    return found


def _noise(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[ImageArray, Anchors]:
    H, W = shape
    pixel = rng.choice(H * W, NUM_ANCHORS, replace=False)
    uv_px = np.stack([pixel % W, pixel // W], axis=1).astype(np.float64)
    return rng.integers(0, 256, (H, W, 3), dtype=np.uint8), Anchors(uv_px, rng.uniform(1.0, 9.0, NUM_ANCHORS))


def inputs_of(frames: Frames, batch: int, device: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The frames, over and over, as a batch on the device."""
    chosen = [frames[i % len(frames)] for i in range(batch)]
    order = [np.lexsort(anchors.uv_px.T) for _, anchors in chosen]
    uv_px = np.stack([anchors.uv_px[by] for (_, anchors), by in zip(chosen, order, strict=True)])
    z_m = np.stack([anchors.z_m[by] for (_, anchors), by in zip(chosen, order, strict=True)])
    count = np.full(batch, z_m.shape[1])
    arrays = np.stack([image for image, _ in chosen]), uv_px, z_m, count
    images, uv, z, num = (torch.from_numpy(np.ascontiguousarray(part)).to(device) for part in arrays)
    return images, uv, z, num


def timed(run: Callable[[], Any], device: str, warmup: int, runs: int) -> dict[str, float]:
    """Mean, standard deviation and median of a call in milliseconds; each ends when the device has finished."""
    times = []
    for i in range(warmup + runs):
        _wait(device)
        start = time.perf_counter()
        run()
        _wait(device)
        if i >= warmup:
            times.append((time.perf_counter() - start) * 1e3)
    return {"mean_ms": float(np.mean(times)), "std_ms": float(np.std(times)), "median_ms": float(np.median(times))}


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def timings(calibrator: GpuCalibrator, frames: Frames, batch: int, given: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of each part at one batch size, and of a frame."""
    device, stages = given.device, calibrator.stages
    images, uv_px, z_m, count = inputs_of(frames, batch, device)
    calibrator.warm_up([(batch, MAX_ANCHORS)])
    parts: dict[str, Recording[Any]] = {
        "foundation": Recording(lambda x: (stages.foundation(x),), (images,)),
        "foundation_and_appearance": Recording(stages.seen, (images,)),
    }
    relative, cells = (part.clone() for part in parts["foundation_and_appearance"].play())
    padded = torch.zeros(batch, MAX_ANCHORS, 2, dtype=torch.float64, device=device)
    depths = torch.ones(batch, MAX_ANCHORS, dtype=torch.float64, device=device)
    padded[:, : z_m.shape[1]], depths[:, : z_m.shape[1]] = uv_px, z_m
    parts["gate_fit_kriging"] = Recording(stages.calibrated, (relative, cells, padded, depths, count))
    found = {name: timed(part.play, device, given.warmup, given.runs) for name, part in parts.items()}
    found["end_to_end"] = timed(lambda: calibrator(images, uv_px, z_m, count), device, given.warmup, given.runs)
    return {**found, "end_to_end_ms_per_frame": found["end_to_end"]["mean_ms"] / batch}


def differences(
    frames: Frames, shape: tuple[int, int], dtypes: Sequence[str], device: str
) -> dict[str, dict[str, float]]:
    """Mean relative difference from single precision of the relative field and of metric depth, by precision."""
    batch = min(len(frames), 8)
    given = inputs_of(frames, batch, device)
    results = {}
    for dtype in dict.fromkeys(["float32", *dtypes]):
        calibrator = GpuCalibrator(shape, batch=batch, max_anchors=MAX_ANCHORS, device=device, network_dtype=dtype)
        calibrator.warm_up([(batch, MAX_ANCHORS)])
        with torch.inference_mode():
            results[dtype] = calibrator.stages.foundation(given[0]), calibrator(*given).depth_m.clone()
    relative, depth_m = results["float32"]
    return {
        dtype: {
            "relative_field": torch.expm1((x - relative).abs()).mean().item(),
            "depth": ((z / depth_m - 1.0).abs()).mean().item(),
        }
        for dtype, (x, z) in results.items()
        if dtype != "float32"
    }


def agreement(calibrator: GpuCalibrator, frames: Frames) -> dict[str, Any]:
    """How far depth and verdicts are from those of `mrac.Calibrator` on the CPU, over all frames."""
    reference, worst, mean, equal, readings, largest = Calibrator(foundation="embedded"), [], [], 0, 0, 0.0
    calibrator.warm_up([(1, MAX_ANCHORS)])
    for image, anchors in frames:
        expected, found = reference(image, anchors), calibrator.frames([image], [anchors])[0]
        off = np.abs(found.depth_m.cpu().numpy() / expected.depth_m - 1.0)
        worst.append(float(off.max()))
        mean.append(float(off.mean()))
        equal += int((found.keep.cpu().numpy() == expected.anchors.keep).sum())
        readings += len(anchors.z_m)
        change = np.abs(found.outlier_probability.cpu().numpy() - expected.anchors.outlier_probability)
        largest = max(largest, float(change.max()))
    return {
        "frames": len(frames),
        "largest_relative_difference": max(worst),
        "frames_within_1e-4": sum(one <= 1e-4 for one in worst),
        "mean_relative_difference": float(np.mean(mean)),
        "verdicts_equal": f"{equal} of {readings}",
        "largest_difference_of_outlier_probability": largest,
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


def default_on_device(given: argparse.Namespace) -> dict[str, Any]:
    """All measurements of the method `default`."""
    shape, device = given.shape, given.device
    frames = frames_of(given.data, given.set, shape, max(given.frames, 1))
    tuning = Tuning(compile=given.compile, own_kernels=given.own_kernels, max_dense=given.max_dense)
    by_precision: dict[str, Any] = {}
    for dtype in given.precisions:
        calibrator = GpuCalibrator(
            shape,
            batch=max(given.batches),
            max_anchors=MAX_ANCHORS,
            device=device,
            network_dtype=dtype,
            tuning=tuning,
        )
        by_precision[dtype] = {f"batch {batch}": timings(calibrator, frames, batch, given) for batch in given.batches}
        if dtype == given.precisions[0]:
            checked = agreement(calibrator, frames)
            if device.startswith("cuda"):
                batch = min(given.batches)
                inputs = inputs_of(frames, batch, device)
                by_precision[dtype]["profile"] = profile(partial(calibrator, *inputs))
                by_precision[dtype]["peak_memory_mb"] = torch.cuda.max_memory_allocated() / 2**20
        print(json.dumps({dtype: by_precision[dtype]}, indent=1), flush=True)
    return {
        "shape": shape,
        "num_anchors": NUM_ANCHORS,
        "padded_to": MAX_ANCHORS,
        "timings": by_precision,
        "agreement_with_cpu": checked,
        "half_against_single": differences(frames, shape, given.precisions, device),
    }


def _shape(text: str) -> tuple[int, int]:
    height, width = text.split("x")
    return int(height), int(width)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--data", type=Path, help="folder with a manifest.csv; without it, noise")
    parser.add_argument("--set", default="nyu")
    parser.add_argument("--shape", type=_shape, default=(480, 640), metavar="HxW")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    parser.add_argument("--frames", type=int, default=16, help="frames compared with the CPU")
    parser.add_argument("--warmup", type=int, default=10, help="runs that are not counted")
    parser.add_argument("--runs", type=int, default=100, help="runs that are")
    parser.add_argument("--compile", action="store_true", help="fuse kernels by torch.compile before recording")
    parser.add_argument("--max-dense", type=int, help="see mrac.gpu.Tuning")
    parser.add_argument("--own-kernels", action="store_true", help="inverses by mrac.gpu.kernels, not cuSOLVER")
    parser.add_argument("--only", choices=("default", "paper"), help="one of the two halves")
    parser.add_argument("--paper-batches", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--paper-sizes", type=_shape, nargs="+", default=[(480, 640), (352, 1216)], metavar="HxW")
    parser.add_argument("--paper-layers", type=int, help="fewer layers of the large network, 4 or more, for a trial")
    parser.add_argument("--out", type=Path, default=results_folder("gpu_speed"))
    given = parser.parse_args(arguments)
    name = torch.cuda.get_device_name() if given.device.startswith("cuda") else "cpu"
    found: dict[str, Any] = {"device": name, "torch": torch.__version__, "warmup": given.warmup, "runs": given.runs}
    found |= {name: getattr(given, name) for name in ("compile", "own_kernels", "max_dense")}
    if given.only != "paper":
        with own_kernels(given.own_kernels and given.device.startswith("cuda")):
            found["default"] = default_on_device(given)
    if given.only != "default":
        found["paper"] = paper_scheme(given, timed)
    print(json.dumps(found, indent=1))
    write_results(given.out / "gpu_speed.json", **found)


if __name__ == "__main__":
    main()
