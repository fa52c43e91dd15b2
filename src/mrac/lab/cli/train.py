"""`mrac train RECIPE`: the recipes that made the networks in the package."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from mrac.lab.cli.train_gate import average_gates, gate
from mrac.lab.cli.train_heads import COUNT, PACKS, PATH, SEED, SHARE, Number, head_commands, need_torch
from mrac.lab.cli.train_quantize import quantize
from mrac.lab.cli.train_student import student

_FACTOR = Number(0.0, 1e3, min_open=True)


class _Fold(click.ParamType[tuple[int, int]]):
    """`I/N`, with I from 0 to N − 1."""

    name = "fold"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        number, slash, num_folds = str(value).partition("/")
        if not (slash and number.isdecimal() and num_folds.isdecimal() and int(number) < int(num_folds)):
            self.fail(f"{value!r} is not a fold; 0/3, 1/3 and 2/3 are the three of a pack in three", param, ctx)
        return int(number), int(num_folds)


_FOLD = _Fold()


@click.group(name="train")
def train_command() -> None:
    """Train a network that ships with the package.

    \b
    Example:
      mrac train foundation --data pack/train --out run
      mrac train vanilla --data pack/train --out vanilla
    """


@train_command.command()
@PACKS
@click.option("--out", type=PATH, required=True, metavar="DIR", help="Folder for state, log and network.")
@click.option("--device", default="", metavar="NAME", help="cpu or cuda. Default: the GPU where there is one.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of everything drawn.")
@click.option(
    "--hold-out", type=SHARE, default=0.0, show_default=True, metavar="SHARE", help="Of the scenes, to measure on."
)
@click.option(
    "--fold",
    type=_FOLD,
    metavar="I/N",
    help="In place of --hold-out: leave out fold I of N of the scenes, for `--out-of-fold` of the heads' trainings.",
)
@click.option(
    "--steps", type=_FACTOR, default=1.0, show_default=True, metavar="FACTOR", help="Of the recipe's number of steps."
)
@click.option(
    "--leave-out", multiple=True, metavar="NAME", help="A set or a scene that is never trained on, only measured on."
)
@click.option("--scenes", type=COUNT, metavar="N", help="Rendered scenes. Default: the recipe's 4000; 0 for none.")
@click.option(
    "--from",
    "start",
    type=PATH,
    metavar="FILE",
    help="Go on from embedded.safetensors of a first run, or from a network as it ships, embedded.onnx.",
)
def foundation(
    data: tuple[Path, ...], out: Path, device: str, hold_out: float, fold: tuple[int, int] | None, **recipe_options: Any
) -> None:
    """Train the embedded foundation: 13 minutes on one H200. Killed, the same command goes on.

    Writes state.safetensors and log.jsonl while it runs, at the end embedded.safetensors and embedded.onnx.

    \b
    Examples:
      mrac train foundation --data pack/train --data pack/more --data pack/sky --out run
      mrac train foundation --data pack/train --out run --hold-out 0.14
      mrac train foundation --data pack/train --out without0 --fold 0/3 --steps 0.3
      mrac train foundation --data pack/train --out run2 --from run/embedded.safetensors
      mrac train foundation --data mine --out run3 --from embedded.onnx --steps 0.2
      mrac calibrate a.jpg --anchors a.csv --foundation embedded:run/embedded.onnx --out result
    """
    need_torch()
    from mrac.lab.train.folds import fold_of  # noqa: PLC0415
    from mrac.lab.train.foundation.recipe import FoundationOptions, further_round, second_round  # noqa: PLC0415
    from mrac.lab.train.foundation.run import RunOptions, is_held_out, train_foundation  # noqa: PLC0415

    recipe = FoundationOptions(seed=recipe_options["seed"])
    start: Path | None = recipe_options["start"]
    if start is not None:
        recipe = further_round(recipe) if start.suffix == ".onnx" else second_round(recipe)
    factor, scenes = recipe_options["steps"], recipe_options["scenes"]
    phases = tuple(replace(phase, num_steps=max(1, round(factor * phase.num_steps))) for phase in recipe.phases)
    warmup = max(1, round(factor * recipe.warmup))
    num_scenes = recipe.num_scenes if scenes is None else scenes
    recipe = replace(recipe, phases=phases, warmup=warmup, num_scenes=num_scenes)

    def is_held(set_name: str, scene: str) -> bool:
        return is_held_out(scene, hold_out) if fold is None else fold_of(set_name, scene, fold[1]) == fold[0]

    run = RunOptions(data, out, device, start=start, leave_out=recipe_options["leave_out"])
    network = train_foundation(recipe, run, is_held, Console())
    click.echo(f"{network}: {network.stat().st_size / 1e6:.1f} MB")


for command in (*head_commands(), gate, average_gates, quantize, student):
    train_command.add_command(command)

COMMAND = train_command
