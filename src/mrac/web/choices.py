"""From the page's choices of method, foundation and κ to a calibrator."""

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mrac.http import Choices, Offer
from mrac.methods import METHODS
from mrac.pipeline import Calibrator
from mrac.web.catalogue import DEFAULT_KAPPA, foundations
from mrac.web.predictions import MemoryPredictions
from mrac.web.recipe import Recipe

_KAPPA_GATES: Final = ("theil_sen_mad", "siegel_mad")


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
    def offer(self) -> Offer:
        """What requests are checked against."""
        return Offer("default", self.foundation, foundations(), self.device)

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


def takes_kappa(method: str) -> bool:
    """Whether the gate of a method has the option κ."""
    return _gate(method) in _KAPPA_GATES


def _gate(method: str) -> str:
    return METHODS[method].gate.partition(":")[0] if method in METHODS else ""
