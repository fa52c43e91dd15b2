"""One frame of `mrac calibrate`: its readings put right, calibrated, and the report's entry on its inputs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mrac.anchors import Anchors
    from mrac.camera import Camera
    from mrac.conventions import ImageArray
    from mrac.pipeline import Calibrator
    from mrac.result import MetricDepth
    from mrac.sensors import Sensor


def calibrated(
    calibrator: "Calibrator",
    pixels: "ImageArray",
    given: "tuple[Anchors, Camera | None, Sensor | None]",
    fixes: Sequence[str],
) -> "tuple[MetricDepth, Anchors]":
    """The result, and the readings as they were used; `given` is of `read_given`."""
    anchors, camera, sensor = given
    anchors = calibrator.fixed(pixels, anchors, fixes, camera=camera) if fixes else anchors
    anchors = anchors if sensor is None else sensor.apply(anchors)
    return calibrator(pixels, anchors, camera=camera), anchors


def inputs_entry(
    image: Path, relative: Path | None, nearer_than_m: Sequence[float], fixes: Sequence[str], source: dict[str, Any]
) -> dict[str, Any]:
    """What `report.json` says of the inputs."""
    return {
        "image": str(image),
        "relative": None if relative is None else str(relative),
        "nearer_than_m": list(nearer_than_m),
        "fix": list(fixes),
        **{name: str(value) if isinstance(value, Path) else value for name, value in source.items()},
    }


def take_relative(options: dict[str, Any]) -> tuple[Path | None, str]:
    """Takes --relative and --relative-space out of the options of a command."""
    path: Path | None = options.pop("relative_path")
    space: str = options.pop("relative_space")
    if path is not None and options["foundation"] is not None:
        raise click.UsageError("--relative and --foundation exclude each other")
    if space and path is None:
        raise click.UsageError("--relative-space goes with --relative")
    return path, space
