"""README.md: its Python ends with a result; its shell lines are `mrac` commands, on what `mrac demo` wrote."""

import numpy as np

from mrac import MetricDepth
from tests.pages import ROOT, blocks_of, commands
from tests.pages.run import Step

PAGE = ROOT / "README.md"


def python_lines() -> str:
    """All Python of the README, one after the other, as a reader would type it."""
    return "\n".join(block.text for block in blocks_of(PAGE) if block.language == "python")


def shell_lines() -> list[str]:
    """The `mrac` lines of the README that need nothing but demo/, which `mrac demo --out demo` makes: others say so."""
    lines = [line for block in blocks_of(PAGE) if block.language == "sh" for line, run in commands(block) if run]
    return [line for line in lines if line.startswith("mrac ")]


class Check:
    def __init__(self) -> None:
        self.commands = 0

    def __call__(self, step: Step) -> None:
        if step.block.language == "sh":
            self.commands += step.source.startswith("mrac ")
            return
        out = step.names["out"]
        assert isinstance(out, MetricDepth)
        assert np.isfinite(out.depth_m).all()
        assert np.isfinite(out.sigma_m).all()

    def finish(self) -> None:
        assert self.commands == len(shell_lines()) > 0
