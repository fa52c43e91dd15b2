"""`mrac train RECIPE`: the recipes that made the networks in the package."""

import math
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from mrac.errors import MissingExtra

_PATH = click.Path(path_type=Path)
_SEED, _COUNT = click.IntRange(0, 2**32 - 1), click.IntRange(0)


class _Number(click.FloatRange):
    """Between two ends, and a number: click lets NaN through."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


_SHARE, _FACTOR = _Number(0.0, 1.0, max_open=True), _Number(0.0, 1e3, min_open=True)


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
@click.option("--seed", type=_SEED, default=0, show_default=True, metavar="N", help="Of everything drawn.")
@click.option(
    "--hold-out", type=_SHARE, default=0.0, show_default=True, metavar="SHARE", help="Of the scenes, to measure on."
)
@click.option(
    "--steps", type=_FACTOR, default=1.0, show_default=True, metavar="FACTOR", help="Of the recipe's number of steps."
)
@click.option("--scenes", type=_COUNT, metavar="N", help="Rendered scenes. Default: the recipe's 4000; 0 for none.")
@click.option("--from", "teacher", type=_PATH, metavar="FILE", help="A second round: embedded.safetensors of a first.")
def foundation(data: Path, out: Path, device: str, hold_out: float, **recipe_options: Any) -> None:
    """Train the embedded foundation: 13 minutes on one H200. Killed, the same command goes on.

    Writes state.safetensors and log.jsonl while it runs, at the end embedded.safetensors and embedded.onnx.

    \b
    Examples:
      mrac train foundation --data pack/train --out run --hold-out 0.14
      mrac train foundation --data pack/train --out run2 --from run/embedded.safetensors
      mrac calibrate a.jpg --anchors a.csv --foundation embedded:run/embedded.onnx --out result
    """
    try:
        import torch  # noqa: F401, PLC0415  (gigabytes: only those who train have it)
    except ImportError:
        raise MissingExtra("training", "train") from None
    from dataclasses import replace  # noqa: PLC0415

    from mrac.train.foundation import FoundationOptions, second_round  # noqa: PLC0415
    from mrac.train.run import RunOptions, train_foundation  # noqa: PLC0415

    recipe = FoundationOptions(seed=recipe_options["seed"])
    teacher: Path | None = recipe_options["teacher"]
    if teacher is not None:
        recipe = second_round(recipe)
    factor, scenes = recipe_options["steps"], recipe_options["scenes"]
    phases = tuple(replace(phase, num_steps=max(1, round(factor * phase.num_steps))) for phase in recipe.phases)
    warmup = max(1, round(factor * recipe.warmup))
    num_scenes = recipe.num_scenes if scenes is None else scenes
    recipe = replace(recipe, phases=phases, warmup=warmup, num_scenes=num_scenes)
    network = train_foundation(recipe, RunOptions(data, out, device, teacher=teacher), hold_out, Console())
    click.echo(f"{network}: {network.stat().st_size / 1e6:.1f} MB")
