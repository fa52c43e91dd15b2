"""`mrac train vanilla | b_prime | raw_depth | sml_retrained | ablation | export`: the learned heads."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from mrac.errors import MissingExtra

if TYPE_CHECKING:
    from mrac.lab.train.heads.data import DataOptions
    from mrac.lab.train.heads.options import HeadOptions
    from mrac.lab.train.heads.run import MakeTask
    from mrac.lab.train.heads.session import HeadRun

PATH = click.Path(path_type=Path)
SEED, COUNT = click.IntRange(0, 2**32 - 1), click.IntRange(0)


class Number(click.FloatRange):
    """Between two ends, and a number: click lets NaN through."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


SHARE = Number(0.0, 1.0, max_open=True)

PACKS = click.option(
    "--data",
    type=PATH,
    required=True,
    multiple=True,
    metavar="DIR",
    help="Training pack: a folder with a manifest.csv. May be repeated.",
)
_OPTIONS = (
    click.option("--data", type=PATH, required=True, metavar="DIR", help="Training pack: a folder with manifest.csv."),
    click.option("--out", type=PATH, required=True, metavar="DIR", help="Folder for state, log and head."),
    click.option(
        "--foundation", default="embedded", show_default=True, metavar="SPEC", help="Where relative depth comes from."
    ),
    click.option(
        "--out-of-fold",
        type=PATH,
        multiple=True,
        metavar="FILE",
        help="In its place, once per fold in order: networks of `mrac train foundation --fold`. Each frame's relative "
        "depth comes from the one that never saw its scene.",
    ),
    click.option("--epochs", type=click.IntRange(1), metavar="N", help="Default: the recipe's."),
    click.option("--batch", type=click.IntRange(1), metavar="N", help="Images a step. Default: the recipe's."),
    click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of everything drawn."),
    click.option("--device", default="", metavar="NAME", help="cpu or cuda. Default: the GPU where there is one."),
    click.option(
        "--precision",
        type=click.Choice(["no", "fp16", "bf16"]),
        help="Of the network's arithmetic. Default: fp16 on a GPU, no (single precision) on a CPU.",
    ),
    click.option(
        "--hold-out", type=SHARE, default=0.1, show_default=True, metavar="SHARE", help="Of the scenes, to measure on."
    ),
    click.option("--score-every", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="Epochs."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Use so many images only."),
)
_FIELD = click.option(
    "--inverse-field",
    is_flag=True,
    help="Relative depth as inverse depth, as the paper's foundation gives it; the head is then NAME_inverse.",
)
_FORM = click.option(
    "--form",
    type=click.Choice(["metres", "scale_free"]),
    help="How anchors enter and what a correction is worth. Default: metres, the paper's.",
)


def head_commands() -> list[click.Command]:
    """One command per recipe, the ablation, and the export."""
    recipes = {
        "vanilla": "Train the paper's residual head: clean anchors, four losses.",
        "b_prime": "Train the paper's residual head with anchors dropped at random, up to 40 %.",
        "raw_depth": "Train the same network to give depth without a closed-form fit.",
        "sml_retrained": "Train VI-Depth's scale-map learner on 150 readings.",
    }
    made = [_recipe_command(name, summary) for name, summary in recipes.items()]
    return [*made, ablation, export]


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _recipe_command(name: str, summary: str) -> click.Command:
    @_with_options
    def train(**given: Any) -> None:
        need_torch()
        from mrac.lab.train.heads import recipes  # noqa: PLC0415  (torch)
        from mrac.lab.train.heads.run import train_head  # noqa: PLC0415

        options, console = _changed(getattr(recipes, name)(), given), Console()
        make_task = _make_task(options, console)
        head = train_head(options, _data(given, options), _run(given), console, make_task)
        click.echo(f"{head}: {head.stat().st_size / 1e6:.1f} MB")

    text = (
        f"{summary} Killed, the same command goes on.\n\n"
        "Writes state.safetensors, log.jsonl, last.safetensors and best.safetensors (of the scenes held out) and "
        f"TensorBoard's curves while it runs, at the end {name}.safetensors and {name}.onnx.\n\n"
        f"\b\nExamples:\n  mrac train {name} --data pack/train --out run\n"
        f"  mrac train {name} --data pack/train --out run --out-of-fold f0.safetensors --out-of-fold f1.safetensors\n"
    )
    if name in ("vanilla", "b_prime"):
        train = _FORM(train)
    return click.command(name, help=text)(train if name == "sml_retrained" else _FIELD(train))


@click.command()
@_with_options
@_FORM
@_FIELD
@click.option("--seeds", default="", metavar="LIST", help="In place of --seed, e.g. 0,1,2: the table has their mean.")
@click.option("--rows", default="", metavar="LIST", help="Of the table, e.g. raw_full,residual_no_cwa. Default: all.")
def ablation(seeds: str, rows: str, **given: Any) -> None:
    """Train the eleven rows of the paper's loss–architecture table, side by side. Killed, it goes on.

    Each row has a folder of its own in --out/seedN; at the end the table is there as ablation.json, .csv and .md. The
    paper's schedule of 80 epochs is the default. Then, on the evaluation sets: python -m mrac.lab.studies.ablation.

    \b
    Examples:
      mrac train ablation --data pack/train --out ablation --seeds 0,1,2
      mrac train ablation --data pack/train --out ablation --seeds 0 --rows raw_full,raw_no_cwa
    """
    need_torch()
    from mrac.lab.train.heads.ablation import run_ablation  # noqa: PLC0415  (torch)
    from mrac.lab.train.heads.recipes import ablation as table  # noqa: PLC0415

    known = table()
    wanted = [name.strip() for name in rows.split(",")] if rows else list(known)
    if unknown := [name for name in wanted if name not in known]:
        raise click.BadParameter(f"no row {unknown[0]!r}; known: {', '.join(known)}", param_hint="--rows")
    try:
        chosen = [SEED(seed) for seed in seeds.split(",")] if seeds else [given["seed"]]
    except click.BadParameter as error:
        raise click.BadParameter(error.message, param_hint="--seeds") from None
    recipes = {name: _changed(known[name], given) for name in wanted}
    run_ablation(recipes, _data(given, next(iter(recipes.values()))), _run(given), Console(), chosen)


@click.command()
@click.argument("head", type=PATH)
@click.option("--out", type=PATH, metavar="FILE", help="Default: beside it, with the suffix .onnx.")
def export(head: Path, out: Path | None) -> None:
    """Write a trained HEAD (.safetensors) as ONNX, for the runtime without torch.

    \b
    Example:
      mrac train export run/best.safetensors --out vanilla.onnx
    """
    need_torch()
    from mrac.lab.train.heads.export import export_checkpoint  # noqa: PLC0415  (torch)

    target = out or head.with_suffix(".onnx")
    export_checkpoint(head, target)
    click.echo(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


def need_torch() -> None:
    """Raises `MissingExtra` where torch is not installed."""
    try:
        import torch  # noqa: F401, PLC0415  (gigabytes: only those who train have it)
    except ImportError:
        raise MissingExtra("training", "lab") from None


def _changed(options: "HeadOptions", given: dict[str, Any]) -> "HeadOptions":
    wanted = {"num_epochs": given["epochs"], "batch": given["batch"], "form": given.get("form"), "seed": given["seed"]}
    if options.kind != "residual":
        wanted["form"] = None  # without a fit there is none to be free of
    if given.get("inverse_field"):
        wanted |= {"relative_space": "inverse_depth", "recipe": f"{options.recipe}_inverse"}
    return replace(options, **{name: value for name, value in wanted.items() if value is not None})


def _make_task(options: "HeadOptions", console: Console) -> "MakeTask":
    if options.kind == "sml":
        from mrac.lab.train.scale_map.task import draw_sml_task  # noqa: PLC0415  (scipy's triangulation and numba)

        return partial(draw_sml_task, console=console)
    from mrac.lab.train.heads.task import HeadTask  # noqa: PLC0415

    return HeadTask


def _data(given: dict[str, Any], options: "HeadOptions") -> "DataOptions":
    from mrac.lab.train.heads.data import DataOptions, FromFoundation, OutOfFold  # noqa: PLC0415

    files = given["out_of_fold"]
    predictor = OutOfFold(tuple(files)) if files else FromFoundation(given["foundation"])
    return DataOptions(
        folder=given["data"],
        predictor=predictor,
        space=options.space,
        relative_space=options.relative_space,
        num_pixels=options.num_pixels,
        limit=given["limit"],
    )


def _run(given: dict[str, Any]) -> "HeadRun":
    from mrac.lab.train.heads.session import HeadRun  # noqa: PLC0415

    names = ("out", "device", "precision", "hold_out", "score_every")
    return HeadRun(**{name: given[name] for name in names})
