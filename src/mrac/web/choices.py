"""What the page may choose: methods, foundations, κ, and the columns that are compared."""

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from mrac import registry
from mrac.http import Choices, Offer
from mrac.methods import METHODS
from mrac.pipeline import Calibrator
from mrac.web.predictions import MemoryPredictions
from mrac.web.recipe import Recipe

DEFAULT_KAPPA: Final = 2.0  # the paper's, and that of `mrac.gate.theil_sen_mad`
_KAPPA_GATES: Final = ("theil_sen_mad", "siegel_mad")
# What is compared side by side; the method of the last one can be chosen.
COLUMNS: Final = (("vanilla", "No gate"), ("mrac", "The paper"), ("default", "Our default"))


@dataclass(frozen=True)
class Menu:
    """What may be asked for; a browser names methods and foundations, it never sends a spec that could read a file.

    Attributes:
        foundation: in place of every method's own, as the server was started; None: the method's.
        device: that networks run on.
    """

    foundation: str | None = None
    device: str = "cpu"

    @cached_property
    def foundations(self) -> dict[str, str]:
        """Those that can run here, with a line on each."""
        found = {name: registry.summary("foundation", name) for name in ("embedded", "none")}
        if registry.create("foundation", "dav2-small").identity is not None:  # `mrac fetch` got its weights
            found["dav2-small"] = registry.summary("foundation", "dav2_small")
        return found

    @cached_property
    def offer(self) -> Offer:
        """What requests are checked against."""
        return Offer("default", self.foundation, tuple(self.foundations), self.device)

    def arguments(self, recipe: Recipe) -> dict[str, str]:
        """What `Calibrator` is called with for a recipe: the method, and all that differs from its own."""
        given = {"method": recipe.method}
        if recipe.foundation or self.foundation:
            given["foundation"] = recipe.foundation or str(self.foundation)
        if takes_kappa(recipe.method) and recipe.kappa != DEFAULT_KAPPA:
            given["gate"] = f"{_gate(recipe.method)}:kappa={recipe.kappa!r}"
        if self.device != "cpu":
            given["device"] = self.device
        return given

    def calibrator(self, recipe: Recipe, predictions: MemoryPredictions) -> Calibrator:
        """The calibrator of a recipe, with the network's answers kept in memory.

        Raises:
            ContractError: the method or the foundation is not one of these choices.
        """
        given = {name: value for name, value in self.arguments(recipe).items() if name != "device"}
        shared = self.offer.calibrator(Choices(**given))
        own = copy.copy(shared)  # parameters only: the copy costs nothing, and the shared one stays without a cache
        own.cache = predictions
        return own

    def summary(self) -> dict[str, Any]:
        """What the page's controls offer."""
        names = self.offer.methods()
        return {
            "methods": [{"name": name, "summary": METHODS[name].summary} for name in names],
            "foundations": [{"name": name, "summary": text} for name, text in self.foundations.items()],
            "own_foundation": self.foundation or "",
            "columns": [{"method": name, "title": title} for name, title in COLUMNS],
            "kappa": DEFAULT_KAPPA,
        }


def takes_kappa(method: str) -> bool:
    """Whether the gate of a method has the option κ."""
    return _gate(method) in _KAPPA_GATES


def _gate(method: str) -> str:
    return METHODS[method].gate.partition(":")[0] if method in METHODS else ""
