"""`mrac train quantize`: the embedded network in 8 bits."""

from itertools import chain
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from mrac.errors import MissingExtra
from mrac.foundation.embedded import NETWORK
from mrac.lab.cli.train_heads import PACKS, PATH, SEED
from mrac.runtime.onnx_check import check_onnx


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
@click.option(
    "--steps",
    type=click.IntRange(0),
    default=850,
    show_default=True,
    metavar="N",
    help="Of fine-tuning towards the network in single precision; 0 leaves the ranges as they are taken.",
)
@click.option("--teacher", type=PATH, metavar="FILE", help="Whose answers are learned. Default: those of --network.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of everything drawn.")
def quantize(
    data: tuple[Path, ...],
    network: Path,
    out: Path,
    frames: int,
    steps: int,
    teacher: Path | None,
    seed: int,
) -> None:
    """Write a network of `mrac train foundation` or `student` with 8-bit convolutions: `embedded:precision=int8`.

    Ranges are taken from some frames; then weights and ranges are fine-tuned until the 8-bit network answers as the
    one in single precision does, or as another --teacher. A run that was killed goes on where it
    stopped: its state is in the folder OUT_training beside the file, with a log.

    \b
    Example:
      mrac train quantize --data pack/train --data pack/more --data pack/sky --out embedded_int8.onnx
      mrac train quantize --data pack/train --steps 0 --out calibrated.onnx
    """
    try:
        from mrac.lab.export.int8 import calibrated  # noqa: PLC0415
        from mrac.lab.export.onnx import write_model  # noqa: PLC0415
        from mrac.lab.train.quantized.run import RunOptions, finetune  # noqa: PLC0415
        from mrac.lab.train.quantized.training import QuantizeOptions  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("training", "lab") from None
    from mrac.lab.data.manifest import by_set, read_manifest  # noqa: PLC0415

    # Now, not when ranges have been taken.
    for file in (network, teacher or network):
        check_onnx(file, "train/quantize")
    of_sets = by_set(chain.from_iterable(map(read_manifest, data)))
    some = [frame for members in of_sets.values() for frame in members[:: -(-len(members) // frames)]]
    model = calibrated(network, (frame.image() for frame in track(some, "calibrating")))
    said = f"ranges from {len(some)} images of {len(of_sets)} sets"
    if steps:
        options = QuantizeOptions(steps, seed=seed)
        run = RunOptions(network, data, out.with_name(f"{out.stem}_training"), teacher=teacher)
        left = finetune(options, run, model, Console())
        shares = ", ".join(f"{name} {share:.2f}" for name, share in left.items())
        aim = teacher or "single precision"
        said += f"; {steps} steps; distance to {aim} on held-out frames, of what it was: {shares}"
    write_model(model, out)
    click.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB, {said}")
