"""What the page may choose: methods, foundations, and the columns that are compared. No spec of a browser's is run."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from mrac import registry
from mrac.errors import ContractError
from mrac.methods import METHODS, Method
from mrac.pipeline import Calibrator
from mrac.web.predictions import MemoryPredictions
from mrac.web.recipe import Recipe

DEFAULT_KAPPA: Final = 2.0  # the paper's, and that of `mrac.gate.theil_sen_mad`
_KAPPA_GATES: Final = ("theil_sen_mad", "siegel_mad")
# What is compared side by side; the method of the last one can be chosen.
COLUMNS: Final = (("vanilla", "No gate"), ("mrac", "The paper"), ("default", "Our default"))


@dataclass(frozen=True)
class Choices:
    """What may be asked for.

    Attributes:
        more_foundations: specs that whoever started the server added.
        device: that networks run on.
    """

    more_foundations: tuple[str, ...] = ()
    device: str = "cpu"

    @cached_property
    def foundations(self) -> dict[str, str]:
        """Specs that can run here, with a line on each."""
        found = {name: registry.summary("foundation", name) for name in ("embedded", "none")}
        if registry.create("foundation", "dav2-small").identity is not None:  # `mrac fetch` got its weights
            found["dav2-small"] = registry.summary("foundation", "dav2_small")
        return found | {spec: f"{spec}, as the server was started with" for spec in self.more_foundations}

    @cached_property
    def methods(self) -> dict[str, str]:
        """Methods whose foundation can run here, with a line on each; the default first."""
        names = sorted(registry.names("method"), key=lambda name: name != "default")
        return {name: registry.summary("method", name) for name in names if self._can_run(name)}

    def _can_run(self, name: str) -> bool:
        preset: Method = registry.load("method", name)
        return preset.foundation in self.foundations

    def arguments(self, recipe: Recipe) -> dict[str, str]:
        """What `Calibrator` is called with for a recipe: `method`, and a stage where it differs from the method's.

        Raises:
            ContractError: the method or the foundation is not one of these choices.
        """
        for kind, value, known in (
            ("method", recipe.method, self.methods),
            ("foundation", recipe.foundation, {"": "", **self.foundations}),
        ):
            if value not in known:
                raise ContractError(f"{kind}: {value!r} is not offered here; one of {', '.join(filter(None, known))} is")
        given = {"method": recipe.method}
        if recipe.foundation:
            given["foundation"] = recipe.foundation
        if takes_kappa(recipe.method) and recipe.kappa != DEFAULT_KAPPA:
            given["gate"] = f"{_gate(recipe.method)}:kappa={recipe.kappa:g}"
        if self.device != "cpu":
            given["device"] = self.device
        return given

    def calibrator(self, recipe: Recipe, predictions: MemoryPredictions) -> Calibrator:
        """The calibrator of a recipe, with the network's answers kept in memory."""
        return Calibrator(**self.arguments(recipe), cache=predictions)  # type: ignore[arg-type]

    def summary(self) -> dict[str, Any]:
        """What the page's controls offer."""
        return {
            "methods": [
                {"name": name, "summary": text, "kappa": takes_kappa(name)} for name, text in self.methods.items()
            ],
            "foundations": [{"name": name, "summary": text} for name, text in self.foundations.items()],
            "columns": [{"method": name, "title": title} for name, title in COLUMNS],
            "kappa": DEFAULT_KAPPA,
        }


def takes_kappa(method: str) -> bool:
    """Whether the gate of a method has the option κ."""
    return _gate(method) in _KAPPA_GATES


def _gate(method: str) -> str:
    preset: Method = METHODS[method] if method in METHODS else registry.load("method", method)
    return preset.gate.partition(":")[0]
