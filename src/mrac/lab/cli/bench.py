"""`mrac bench run | pack | report`: the benchmark of methods against wrong readings."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from mrac.errors import ContractError
from mrac.lab.cli.report import report_command

_PATH = click.Path(path_type=Path)


@click.group(name="bench")
def bench_command() -> None:
    """Run a protocol over data sets, and report what came of it.

    \b
    Examples:
      mrac bench run --protocol quick --data data/eval --out runs/quick
      mrac bench report runs/quick
    """


def _list(kind: type) -> Any:
    """A callback that splits a comma-separated option; what is not given stays None."""

    def split(context: click.Context, option: click.Parameter, value: str | None) -> list[Any] | None:
        from mrac.lab.bench.methods import split_methods  # noqa: PLC0415

        if value is None:
            return None
        try:
            values = [kind(word) for word in split_methods(value)]
        except ValueError:
            raise click.BadParameter(f"{value!r} is not a list of numbers, separated by commas") from None
        if not values:
            raise click.BadParameter("a list of one or more, separated by commas, is needed")
        return values

    return split


@bench_command.command()
@click.option("--protocol", required=True, metavar="NAME", help="Of the package (paper, quick, ...), or a .toml file.")
@click.option("--data", type=_PATH, required=True, metavar="DIR", help="Folder of the sets; see `mrac data list`.")
@click.option("--out", type=_PATH, required=True, metavar="RUN", help="Folder of the run; one that is there goes on.")
@click.option("--methods", callback=_list(str), metavar="LIST", help="e.g. mrac,'default;gate=none'.")
@click.option("--sets", callback=_list(str), metavar="LIST", help="e.g. nyu,tum.")
@click.option("--families", callback=_list(str), metavar="LIST", help="e.g. near,gaussian:sigma_m=0.2.")
@click.option("--fractions", callback=_list(float), metavar="LIST", help="Of wrong readings, e.g. 0,0.25.")
@click.option("--anchors", callback=_list(int), metavar="LIST", help="Readings per image, e.g. 50.")
@click.option("--seeds", callback=_list(int), metavar="LIST", help="e.g. 0,1,2.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N images of each set.")
@click.option(
    "--rules",
    type=click.Choice(["own", "paper"]),
    default="own",
    show_default=True,
    help="own: each set's. paper: scored to 80 m on every set, NYUv2's readings from the whole measured image.",
)
@click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True, help="Of heads' networks."
)
@click.option("--executor", type=click.Choice(["local", "ray"]), default="local", show_default=True)
@click.option(
    "--workers",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Processes. Default: one per core; on a GPU at most 8.",
)
def run(protocol: str, data: Path, out: Path, **options: Any) -> None:
    """Run every cell of a protocol that RUN does not have yet; stopped at any moment, the same command goes on.

    Lists that are given take the place of the protocol's: a value that the protocol has stays where it has it, a new
    one goes everywhere.

    \b
    Examples:
      mrac bench run --protocol paper --data data/eval --out runs/paper
      mrac bench run --protocol paper --data data/eval --out runs/paper --methods default
      mrac bench run --protocol quick --data data/eval --out runs/quick --sets nyu --limit 2
      mrac bench run --protocol paper --data data/eval --out runs/80m --rules paper --sets nyu
      mrac bench run --protocol paper --data data/eval --out runs/ray --executor ray
      mrac bench run --protocol paper --data data/eval --out runs/gpu --device cuda
    """
    from mrac.lab.bench.checked_table import arrow  # noqa: PLC0415
    from mrac.lab.bench.run import BenchOptions, run_bench  # noqa: PLC0415  (numpy and more: --help should not wait)

    arrow()  # the extra is asked for before anything is read or written

    names = ("methods", "sets", "families", "fractions", "anchors", "seeds")
    chosen = {name: options.pop(name) for name in names}
    chosen = {name: values for name, values in chosen.items() if values is not None}
    if out.exists() and not out.is_dir():
        raise ContractError(f"--out {out}: is a file; a folder is needed")
    outcome = run_bench(BenchOptions(protocol=protocol, data=data, out=out, chosen=chosen, **options), Console())
    done = f"{outcome.cells} cells, {outcome.computed} of them computed now"
    if outcome.images_per_second:
        done += f", {outcome.images_per_second:.1f} images/s"
    if outcome.failures:
        done += f"; {outcome.failures} failures, see the column failure (a cell whose file is deleted is run again)"
    click.echo(f"{out}: {done}")


@bench_command.command()
@click.argument("run", type=_PATH, metavar="RUN")
@click.option("--out", type=_PATH, required=True, metavar="DIR", help="Another folder, which is then a run as well.")
def pack(run: Path, out: Path) -> None:
    """Write the finished cells of RUN as one small file: a run to be kept, passed on, reported or gone on with.

    All rows and columns, metrics rounded to three or four digits and hashes of anchors shortened. Times of a run on a
    GPU are left out: its workers share the device.

    \b
    Examples:
      mrac bench pack runs/paper --out results/paper
      mrac bench report results/paper --against paper --out report
    """
    from mrac.lab.bench.pack import pack_run  # noqa: PLC0415  (pyarrow: --help should not wait)
    from mrac.lab.bench.store import packed_path  # noqa: PLC0415

    num_rows = pack_run(run, out)
    click.echo(f"{out}: {num_rows} rows, {packed_path(out).stat().st_size / 1e6:.2f} MB")


bench_command.add_command(report_command)

COMMAND = bench_command
