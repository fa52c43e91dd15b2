"""`mrac train RECIPE`: the recipes that made the networks in the package."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from mrac.errors import MissingExtra

_PATH = click.Path(path_type=Path)


@click.group(name="train")
def train_command() -> None:
    """Train a network that ships with the package.

    \b
    Example:
      mrac train foundation --data pack/train --out run
    """


@train_command.command()
@click.option("--data", type=_PATH, required=True, metavar="DIR", help="Training pack: a folder with a manifest.csv.")
@click.option("--out", type=_PATH, required=True, metavar="DIR", help="Folder for state, log and network.")
@click.option("--device", default="", metavar="NAME", help="cpu or cuda. Default: the GPU where there is one.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Of everything drawn.")
@click.option("--hold-out", default=0.0, show_default=True, metavar="SHARE", help="Of the scenes, to measure on.")
@click.option("--steps", default=1.0, show_default=True, metavar="FACTOR", help="Of the recipe's number of steps.")
@click.option("--scenes", type=int, metavar="N", help="Rendered scenes. Default: the recipe's 4000; 0 for none.")
def foundation(data: Path, out: Path, device: str, hold_out: float, **recipe_options: Any) -> None:
    """Train the embedded foundation: 13 minutes on one H200. Killed, the same command goes on.

    Writes state.safetensors and log.jsonl while it runs, at the end embedded.safetensors and embedded.onnx.

    \b
    Examples:
      mrac train foundation --data pack/train --out run --hold-out 0.14
      mrac calibrate a.jpg --anchors a.csv --foundation embedded:run/embedded.onnx --out result
    """
    try:
        import torch  # noqa: F401, PLC0415  (gigabytes: only those who train have it)
    except ImportError:
        raise MissingExtra("training", "train") from None
    from dataclasses import replace  # noqa: PLC0415

    from mrac.train.foundation import FoundationOptions  # noqa: PLC0415
    from mrac.train.run import RunOptions, train_foundation  # noqa: PLC0415

    recipe = FoundationOptions(seed=recipe_options["seed"])
    factor, scenes = recipe_options["steps"], recipe_options["scenes"]
    phases = tuple(replace(phase, num_steps=max(1, round(factor * phase.num_steps))) for phase in recipe.phases)
    recipe = replace(recipe, phases=phases, num_scenes=recipe.num_scenes if scenes is None else scenes)
    network = train_foundation(recipe, RunOptions(data, out, device), hold_out, Console())
    click.echo(f"{network}: {network.stat().st_size / 1e6:.1f} MB")
