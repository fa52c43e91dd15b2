"""`mrac train student`: the small network that `fast` runs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from mrac.foundation.embedded import NETWORK
from mrac.lab.cli.train_heads import COUNT, PACKS, PATH, SEED, need_torch


@click.command()
@PACKS
@click.option("--out", type=PATH, required=True, metavar="DIR", help="Folder for state, log and network.")
@click.option("--teacher", type=PATH, default=NETWORK, metavar="FILE", help="Default: the network in the package.")
@click.option("--device", default="", metavar="NAME", help="cpu or cuda. Default: the GPU where there is one.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of everything drawn.")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Default: the recipe's 450.")
@click.option("--scenes", type=COUNT, metavar="N", help="Rendered scenes. Default: the recipe's 64; 0 for none.")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Views a step. Default: the recipe's 8.")
def student(data: tuple[Path, ...], out: Path, teacher: Path, device: str, **given: int | None) -> None:
    """Train a smaller network to answer as the embedded one: a quarter of an hour on two cores.

    It learns from pictures alone; depth in the packs is not read. Writes state.safetensors and log.jsonl while it runs,
    at the end student.onnx, which `mrac train quantize` puts into 8 bits. Killed, the same command goes on.

    \b
    Example:
      mrac train student --data pack/train --data pack/more --data pack/sky --out run
      mrac train quantize --data pack/train --data pack/more --data pack/sky --network run/student.onnx \\
        --teacher src/mrac/weights/embedded.onnx --out embedded_small.onnx
    """
    need_torch()
    from mrac.lab.train.student.run import RunOptions, train_student  # noqa: PLC0415
    from mrac.lab.train.student.training import StudentOptions  # noqa: PLC0415

    names = {"steps": "num_steps", "scenes": "num_scenes", "batch": "batch", "seed": "seed"}
    changed: dict[str, Any] = {names[name]: value for name, value in given.items() if value is not None}
    if given["batch"] is not None:
        changed["small_batch"] = max(1, 3 * given["batch"] // 2)
    recipe = replace(StudentOptions(), **changed)
    network = train_student(recipe, RunOptions(data, out, teacher, device), Console())
    click.echo(f"{network}: {network.stat().st_size / 1e6:.1f} MB")
