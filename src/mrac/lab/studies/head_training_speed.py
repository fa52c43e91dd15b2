"""Images a second of a training step of the paper's recipe, at both resolutions of the paper's latency table.

    python -m mrac.lab.studies.head_training_speed --device cuda

Frames are noise in the device's memory: what is timed is what a run does per step, from the draw of the anchors to the
optimiser, without reading files. Once as the recipe has it, which shrinks frames, once at full size.
"""

import argparse
import json
import time
from dataclasses import replace

import torch

from mrac.lab.train.foundation.run import choose_device
from mrac.lab.train.frames import Frames
from mrac.lab.train.heads import recipes
from mrac.lab.train.heads.data import ALL_PIXELS, HeadFrames, shrunk
from mrac.lab.train.heads.options import HeadOptions
from mrac.lab.train.heads.residual_network import normalise_relative
from mrac.lab.train.heads.task import HeadTask
from mrac.lab.train.heads.training import HeadTraining, make_accelerator

_SIZES = ((480, 640), (352, 1216))


def noise(size: tuple[int, int], num: int, device: torch.device) -> HeadFrames:
    generator = torch.Generator(device).manual_seed(0)
    images = torch.randint(0, 256, (num, 3, *size), generator=generator, device=device, dtype=torch.uint8)
    z_m = 1.0 + 9.0 * torch.rand((num, *size), generator=generator, device=device)
    x = z_m * (0.9 + 0.2 * torch.rand((num, *size), generator=generator, device=device))
    names = tuple(f"noise/{i}" for i in range(num))
    frames = Frames(images, z_m, torch.full((num,), 500.0, device=device), names, names)
    return HeadFrames(frames, x, normalise_relative(x), True)


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def images_per_second(options: HeadOptions, size: tuple[int, int], device: torch.device, num_steps: int) -> float:
    task = HeadTask(options, [shrunk(noise(size, 4 * options.batch, device), options.num_pixels)], [])
    training = HeadTraining(options, task, make_accelerator(device, options.precision))
    for _ in range(max(num_steps // 5, 1)):
        training.advance()
    wait(device)
    began = time.perf_counter()
    for _ in range(num_steps):
        training.advance()
    wait(device)
    return options.batch * num_steps / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="")
    parser.add_argument("--recipe", default="vanilla", choices=["vanilla", "b_prime", "raw_depth"])
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--steps", type=int, default=None, help="timed; default 100 on a GPU, 3 on a CPU")
    parser.add_argument("--precision", choices=["no", "fp16", "bf16"], default=None)
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    on_gpu = device.type == "cuda"
    precision = arguments.precision or ("fp16" if on_gpu else "no")
    options = replace(getattr(recipes, arguments.recipe)(), batch=arguments.batch, precision=precision)
    num_steps = arguments.steps or (100 if on_gpu else 3)
    rates = {
        way: {f"{h}x{w}": round(images_per_second(own, (h, w), device, num_steps), 1) for h, w in _SIZES}
        for way, own in (("as_trained", options), ("full_size", replace(options, num_pixels=ALL_PIXELS)))
    }
    name = torch.cuda.get_device_name(device) if on_gpu else f"{torch.get_num_threads()} CPU threads"
    peak = round(torch.cuda.max_memory_allocated() / 2**30, 1) if on_gpu else None
    print(
        json.dumps(
            {
                "device": name,
                "recipe": arguments.recipe,
                "batch": options.batch,
                "precision": precision,
                "num_pixels_as_trained": options.num_pixels,
                "images_per_second": rates,
                "peak_gib": peak,
                "torch": torch.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
