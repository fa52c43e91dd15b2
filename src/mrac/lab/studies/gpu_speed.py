"""Speed and agreement of `mrac.gpu.GpuCalibrator` on a device, and the paper's scheme beside it.

    python -m mrac.lab.studies.gpu_speed --device cuda    # all figures of docs/realtime.md, and their bounds
    python -m mrac.lab.studies.gpu_speed --device cuda --only profile --batches 1    # that nothing waits, alone
    python -m mrac.lab.studies.gpu_speed --device cuda --data ../shared/data/train    # on photographs, not on noise
    python -m mrac.lab.studies.gpu_speed --device cpu --shape 60x80 --batches 1 --counts 50 --runs 1 --warmup 0

Timed per number of readings, tuning, batch size and precision of the network, each as one recording that is
played: end to end (inputs are on the device), foundation alone, foundation and appearance, and gate + fit + kriging
alone. Half precision against single: mean relative difference of the relative field and of metric depth. Agreement:
frames of the pack, a quarter of the readings too near, against `mrac.Calibrator` on the CPU. Profile: one call under
`set_sync_debug_mode("error")`, then under torch's profiler, with the calls of the runtime that wait for the device
counted. The file of results is written after every part; a part that fails is named in it, and the others go on.
"""

import argparse
import json
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from mrac import Anchors
from mrac.conventions import ImageArray
from mrac.gpu import GpuCalibrator, Tuning
from mrac.gpu.calibrator import BUCKETS
from mrac.gpu.graph import Recording
from mrac.gpu.kernels.source import own_kernels
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.gpu_checks import agreement, profile
from mrac.lab.studies.gpu_paper import paper_scheme
from mrac.lab.studies.gpu_targets import rows
from mrac.lab.studies.protocol import draw_anchors, results_folder, truth_of, write_results

PRECISIONS: Final = ("float32", "float16", "bfloat16")
COUNTS: Final = (50, 1000)
VARIANTS: Final = {
    "torch": Tuning(own_kernels=False),
    "own_kernels": Tuning(own_kernels=True),
    "compiled": Tuning(own_kernels=True, compile=True),
}

Frames = list[tuple[ImageArray, Anchors]]


def frames_of(data: Path | None, set_name: str, shape: tuple[int, int], num: int, count: int) -> Frames:
    """Frames of a pack that have the size, with a quarter of the readings at 0.2 to 0.6 of their depth."""
    rng = np.random.default_rng(0)
    if data is None:
        return [_noise(rng, shape, count) for _ in range(num)]
    found: Frames = []
    for frame in read_manifest(data, set_name):
        image = frame.image()
        if image.shape[:2] == shape and len(found) < num:
            anchors = draw_anchors(frame, truth_of(frame), count, 0)
            wrong = rng.random(len(anchors.z_m)) < 0.25
            z_m = np.where(wrong, anchors.z_m * rng.uniform(0.2, 0.6, wrong.size), anchors.z_m)
            found.append((image, Anchors(anchors.uv_px, z_m)))
    return found


def _noise(rng: np.random.Generator, shape: tuple[int, int], count: int) -> tuple[ImageArray, Anchors]:
    """An image of noise with readings of a slope, a tenth of them too near: the same work as on a photograph."""
    H, W = shape
    pixel = rng.choice(H * W, count, replace=False)
    uv_px = np.stack([pixel % W, pixel // W], axis=1).astype(np.float64)
    z_m = (2.0 + 4.0 * uv_px[:, 1] / H) * np.exp(rng.normal(0.0, 0.02, count))
    near = np.where(rng.random(count) < 0.1, 0.4, 1.0)
    return rng.integers(0, 256, (H, W, 3), dtype=np.uint8), Anchors(uv_px, near * z_m)


def padded_size(count: int) -> int:
    """The readings that frames of `count` are padded to."""
    return next(size for size in BUCKETS if size >= count)


def inputs_of(frames: Frames, batch: int, device: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The frames, over and over, as a batch on the device."""
    chosen = [frames[i % len(frames)] for i in range(batch)]
    size = padded_size(max(len(anchors) for _, anchors in chosen))
    uv_px, z_m = np.zeros((batch, size, 2)), np.ones((batch, size))
    for i, (_, anchors) in enumerate(chosen):
        order = np.lexsort(anchors.uv_px.T)
        uv_px[i, : order.size], z_m[i, : order.size] = anchors.uv_px[order], anchors.z_m[order]
    count = np.array([len(anchors) for _, anchors in chosen])
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
    images, *readings = inputs_of(frames, batch, device)
    calibrator.warm_up([(batch, calibrator.max_anchors)])
    parts: dict[str, Recording[Any]] = {
        "foundation": Recording(lambda x: (stages.foundation(x),), (images,)),
        "foundation_and_appearance": Recording(stages.seen, (images,)),
    }
    relative, cells = (part.clone() for part in parts["foundation_and_appearance"].play())
    parts["gate_fit_kriging"] = Recording(stages.calibrated, (relative, cells, *readings))
    found = {name: timed(part.play, device, given.warmup, given.runs) for name, part in parts.items()}
    found["end_to_end"] = timed(lambda: calibrator(images, *readings), device, given.warmup, given.runs)
    return {**found, "end_to_end_ms_per_frame": found["end_to_end"]["mean_ms"] / batch}


def differences(frames: Frames, given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Mean relative difference from single precision of the relative field and of metric depth, by precision."""
    batch = min(len(frames), 8)
    inputs, results = inputs_of(frames, batch, given.device), {}
    for dtype in dict.fromkeys(["float32", *given.precisions]):
        calibrator = made(given, inputs[2].shape[1], batch, dtype, Tuning())
        calibrator.warm_up([(batch, calibrator.max_anchors)])
        with torch.inference_mode():
            results[dtype] = calibrator.stages.foundation(inputs[0]), calibrator(*inputs).depth_m.clone()
    relative, depth_m = results["float32"]
    return {
        dtype: {
            "relative_field": torch.expm1((x - relative).abs()).mean().item(),
            "depth": ((z / depth_m - 1.0).abs()).mean().item(),
        }
        for dtype, (x, z) in results.items()
        if dtype != "float32"
    }


def made(given: argparse.Namespace, size: int, batch: int, dtype: str, tuning: Tuning) -> GpuCalibrator:
    return GpuCalibrator(
        given.shape, batch=batch, max_anchors=size, device=given.device, network_dtype=dtype, tuning=tuning
    )


def default_on_device(given: argparse.Namespace, count: int, variant: str) -> dict[str, Any]:
    """All measurements of the method `default` with so many readings."""
    frames = frames_of(given.data, given.set, given.shape, max(given.frames, 1), count)
    size, tuning = padded_size(count), replace(VARIANTS[variant], max_dense=given.max_dense)
    own = bool(tuning.own_kernels) and given.device.startswith("cuda")
    found: dict[str, Any] = {"shape": given.shape, "num_anchors": count, "padded_to": size, "timings": {}}
    for dtype in given.precisions:
        calibrator = made(given, size, max(given.batches), dtype, tuning)
        with own_kernels(own):
            if given.only != "profile":
                by_batch = {f"batch {batch}": timings(calibrator, frames, batch, given) for batch in given.batches}
                found["timings"][dtype] = by_batch
            if dtype == given.precisions[0]:
                calibrator.warm_up([(1, size)])
                found["agreement_with_cpu"] = agreement(calibrator, frames)
                if given.device.startswith("cuda"):
                    found["profile"] = profile(partial(calibrator, *inputs_of(frames, 1, given.device)))
                    found["peak_memory_mb"] = torch.cuda.max_memory_allocated() / 2**20
        print(json.dumps(found, indent=1), flush=True)
    if given.only != "profile" and variant == given.variants[0]:
        found["half_against_single"] = differences(frames, given)
    return found


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
    parser.add_argument("--counts", type=int, nargs="+", default=list(COUNTS), help="readings of a frame")
    parser.add_argument(
        "--variants", nargs="+", choices=VARIANTS, default=["own_kernels", "compiled"], help="see Tuning"
    )
    parser.add_argument("--max-dense", type=int, help="see mrac.gpu.Tuning")
    parser.add_argument("--only", choices=("default", "paper", "profile"), help="one part")
    parser.add_argument("--paper-batches", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--paper-sizes", type=_shape, nargs="+", default=[(480, 640), (352, 1216)], metavar="HxW")
    parser.add_argument("--paper-layers", type=int, help="fewer layers of the large network, 4 or more, for a trial")
    parser.add_argument("--out", type=Path, default=results_folder("gpu_speed"))
    measure(parser.parse_args(arguments))


def measure(given: argparse.Namespace) -> None:
    """All parts, each written as soon as it is there; then the table.

    Raises:
        SystemExit: a part failed; its error stands in the results.
    """
    device = torch.cuda.get_device_name() if given.device.startswith("cuda") else "cpu"
    found: dict[str, Any] = {"device": device, "torch": torch.__version__, "warmup": given.warmup, "runs": given.runs}
    found |= {"max_dense": given.max_dense, "default": {}, "paper": {}, "errors": {}}
    parts: dict[str, Callable[[], dict[str, Any]]] = {}
    if given.only != "paper":
        for count, variant in product(given.counts, given.variants):
            parts[f"{count} readings, {variant}"] = partial(default_on_device, given, count, variant)
    if given.only in (None, "paper"):
        parts["paper"] = lambda: paper_scheme(given, timed)
    for name, part in parts.items():
        try:
            found["default" if name != "paper" else name] |= {name: part()} if name != "paper" else part()
        except Exception as error:  # a lent device has little time: what can be measured is
            traceback.print_exc()
            found["errors"][name] = f"{type(error).__name__}: {error}"
        write_results(given.out / "gpu_speed.json", **found, targets=[row._asdict() for row in rows(found)])
    print(*rows(found), *(f"FAILED {name}: {error}" for name, error in found["errors"].items()), sep="\n")
    if found["errors"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
