"""`mrac train quantize`: the embedded network in 8 bits."""

from itertools import chain
from pathlib import Path

import click
from rich.progress import track

from mrac.errors import MissingExtra
from mrac.foundation.embedded import NETWORK
from mrac.lab.cli.train_heads import PACKS, PATH


@click.command()
@PACKS
@click.option("--network", type=PATH, default=NETWORK, metavar="FILE", help="Default: the one in the package.")
@click.option("--out", type=PATH, required=True, metavar="FILE", help="Of the 8-bit network, .onnx.")
@click.option(
    "--frames",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    metavar="N",
    help="Of each set, evenly over the set, from which the ranges of activations are taken.",
)
def quantize(data: tuple[Path, ...], network: Path, out: Path, frames: int) -> None:
    """Write a network of `mrac train foundation` with 8-bit convolutions, for `embedded:precision=int8`.

    \b
    Example:
      mrac train quantize --data pack/train --data pack/more --out embedded_int8.onnx
    """
    try:
        from mrac.lab.export.int8 import quantize as quantized  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("training", "lab") from None
    from mrac.lab.data.manifest import Frame, read_manifest  # noqa: PLC0415

    of_sets: dict[str, list[Frame]] = {}
    for frame in chain(*(read_manifest(folder) for folder in data)):
        of_sets.setdefault(frame.row["set"], []).append(frame)
    some = [frame for members in of_sets.values() for frame in members[:: -(-len(members) // frames)]]
    quantized(network, (frame.image() for frame in track(some, "calibrating")), out)
    click.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB, ranges from {len(some)} images of {len(of_sets)} sets")
