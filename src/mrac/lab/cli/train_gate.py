"""`mrac train gate`: the learned part of the gate `consensus_learned`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from mrac.lab.cli.train_heads import PACKS, PATH, SEED, need_torch


@click.command()
@PACKS
@click.option("--out", type=PATH, required=True, metavar="DIR", help="Folder for log and weights.")
@click.option(
    "--out-of-fold",
    type=PATH,
    multiple=True,
    required=True,
    metavar="FILE",
    help="Once per fold, in order: networks of `mrac train foundation --fold`. Each frame's relative "
    "depth comes from the one that never saw its scene.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of everything drawn.")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Default: the recipe's 35.")
@click.option("--scenes", type=click.IntRange(1), metavar="N", help="Of each set. Default: the recipe's 6000.")
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes that draw scenes. Default: all cores.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Use so many frames of each set only.")
def gate(data: tuple[Path, ...], out: Path, out_of_fold: tuple[Path, ...], **given: Any) -> None:
    """Train the classifier of the gate `consensus_learned`: half an hour on two cores.

    Writes the scenes, log.jsonl and, at the end, consensus_learned.npz. Killed, the same command goes on with the
    scenes that it finds.

    \b
    Example:
      mrac train gate --data pack/train --data pack/more --out gate --out-of-fold f0.onnx --out-of-fold f1.onnx
    """
    need_torch()
    from mrac.lab.train.gate.frames import GateData  # noqa: PLC0415
    from mrac.lab.train.gate.training import ScoreOptions, train_scores  # noqa: PLC0415
    from mrac.runtime.parallel import num_cores  # noqa: PLC0415

    options = ScoreOptions(seed=given["seed"])
    if given["epochs"] is not None:
        options = replace(options, num_epochs=given["epochs"])
    if given["scenes"] is not None:
        upside_down = max(1, given["scenes"] * options.plan.upside_down // options.plan.per_set)
        options = replace(options, plan=replace(options.plan, per_set=given["scenes"], upside_down=upside_down))
    frames = GateData(folders=data, networks=out_of_fold, limit=given["limit"])
    file = train_scores(options, frames, out, Console(), given["workers"] or num_cores())
    click.echo(f"{file}: {file.stat().st_size / 1e3:.1f} kB")


@click.command()
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@click.option("--out", type=PATH, required=True, metavar="FILE", help="Of the mean, .npz.")
def average_gates(first: Path, second: Path, out: Path) -> None:
    """Write the mean of two classifiers of `mrac train gate` as one, which is better than either.

    \b
    Example:
      mrac train average-gates a/consensus_learned.npz b/consensus_learned.npz --out both.npz
    """
    from mrac.lab.train.gate.average import average_classifiers  # noqa: PLC0415

    average_classifiers(first, second, out)
    click.echo(f"{out}: {out.stat().st_size / 1e3:.1f} kB")
