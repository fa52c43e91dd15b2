"""Curves for TensorBoard, where it is installed."""

from pathlib import Path
from typing import Any

from rich.console import Console


class Curves:
    """Losses and scores by epoch.

    Args:
        folder: of the event files; None writes nothing.
        epoch: from which the run goes on: what a killed one wrote of later ones is not shown.
        console: to say once that there will be no curves.
    """

    def __init__(self, folder: Path | None, epoch: int, console: Console) -> None:
        self._writer: Any = None
        if folder is None:
            return
        try:
            from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  (optional, and slow to import)
        except ImportError:
            console.print("no curves: pip install tensorboard; log.jsonl has the numbers")
            return
        self._writer = SummaryWriter(str(folder), purge_step=epoch + 1)

    def add(self, epoch: int, losses: dict[str, float], scores: dict[str, dict[str, float]]) -> None:
        """The losses of an epoch by name and, where it was measured, AbsRel by set and by what was measured."""
        if self._writer is None:
            return
        for name, value in losses.items():
            self._writer.add_scalar(f"loss/{name}" if name != "images_per_s" else name, value, epoch)
        for set_name, measured in scores.items():
            for name, value in measured.items():
                self._writer.add_scalar(f"abs_rel/{set_name}/{name}", value, epoch)

    def close(self) -> None:
        """Writes what is left."""
        if self._writer is not None:
            self._writer.close()
