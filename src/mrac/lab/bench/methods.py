"""Methods by name, with stages exchanged: `mrac_b_prime;gate=theil_sen_mad:kappa=3` is one more line of a table.

`default;fault=upside_down` is the method on what its foundation says, spoilt as `mrac.lab.foundation_faults` says.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from mrac import registry
from mrac.anchors import Anchors
from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.result import MetricDepth
from mrac.types import RelativeDepth

FAULT: Final = "fault"
_STAGES: Final = ("foundation", "gate", "fit", "head", "space", FAULT)
ORACLE: Final = "oracle"
"""The one gate that is the benchmark's own: see `oracle`."""


@dataclass(frozen=True)
class MethodSpec:
    """A method of the benchmark.

    Attributes:
        name: of `mrac list methods`.
        stages: what takes the place of the method's own choice, by stage.
    """

    name: str
    stages: Mapping[str, str]

    @property
    def text(self) -> str:
        """The canonical spelling: one method, one text."""
        return ";".join([self.name, *(f"{stage}={spec}" for stage, spec in self.stages.items())])

    @property
    def has_oracle(self) -> bool:
        """Whether its gate is told which anchors are wrong; see `oracle`."""
        return self.stages.get("gate") == ORACLE

    @property
    def fault(self) -> str:
        """What spoils the foundation's field, one of `FAULTS`; empty where nothing does."""
        return self.stages.get(FAULT, "")

    def calibrator(self, max_range_m: float | None = None) -> Any:
        """A `Calibrator`; what a network needs is loaded on its first call. For an oracle, one that trusts all anchors.

        A fault is not in it: its field is to be given to it.

        Args:
            max_range_m: of the sensor, for the stages that discard by range (VI-Depth's) unless the method says one.

        Raises:
            ContractError: a stage's spec names nothing, or an option that it has not.
        """
        from mrac.pipeline import Calibrator  # noqa: PLC0415  (numba and scipy: a plan does not need them)

        stages = {stage: spec for stage, spec in self.stages.items() if stage != FAULT}
        made = Calibrator(self.name, **{**stages, **({"gate": "none"} if self.has_oracle else {})})
        if max_range_m is not None:
            for stage in ("gate", "head"):
                for_sensor = getattr(getattr(made, stage), "for_sensor", None)
                if for_sensor is not None:
                    setattr(made, stage, for_sensor(max_range_m))
        return made


@lru_cache(maxsize=1024)
def parse_method(text: str) -> MethodSpec:
    """Reads `name` or `name;stage=spec;...`.

    Raises:
        ContractError: no such method or stage.
    """
    name, *choices = (part.strip() for part in text.split(";"))
    if name not in registry.names("method"):
        registry.load("method", name)  # which says what is known
    stages = {}
    for choice in choices:
        stage, equals, spec = choice.partition("=")
        if stage not in _STAGES or not equals or not spec:
            raise ContractError(
                f"bench: method {text!r} has {choice!r}; stage=spec is needed, the stage one of {', '.join(_STAGES)}"
            )
        stages[stage] = spec
    if FAULT in stages:
        from mrac.lab.foundation_faults import FAULTS  # noqa: PLC0415  (scipy: only a plan that has a fault needs it)

        if stages[FAULT] not in FAULTS:
            raise ContractError(f"bench: method {text!r} has an unknown fault; known: {', '.join(FAULTS)}")
    return MethodSpec(name, {stage: stages[stage] for stage in _STAGES if stage in stages})


def split_methods(text: str) -> list[str]:
    """The methods of a comma-separated list; the commas between options of a stage are not separators."""
    parts: list[str] = []
    for part in text.split(","):
        if parts and re.match(r"\s*\w+=", part):  # no method's name has a "=", an option has
            parts[-1] += f",{part.strip()}"
        elif part.strip():
            parts.append(part.strip())
    return parts


def calibrate_all(
    calibrator: Any, image: ImageArray, relative: RelativeDepth | None, anchors: Sequence[Anchors]
) -> Iterator[MetricDepth | Exception]:
    """One method, one image, any number of conditions; what it raises takes the place of the answer.

    All conditions of an image are handed over at once so that a method may run them as one batch: one that has a
    function `all_conditions(image, anchors, relative)`, which gives a result for each, is asked so. On a CPU there is
    nothing to gain: eight at a time through the paper's head took 68 ms each, one by one 61 ms.
    """
    at_once = getattr(calibrator, "all_conditions", None)
    if at_once is not None:
        yield from at_once(image, anchors, relative)
        return
    for one in anchors:
        try:
            yield calibrator(image, one, relative)
        except Exception as error:  # a failure is a row of the table, whoever's it is
            yield error
