"""Which methods and stages a client may choose: by name, and with options that cost nothing and name no file."""

import dataclasses
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, get_type_hints

from mrac import registry
from mrac.errors import ContractError
from mrac.methods import METHODS, Method
from mrac.pipeline import Calibrator

_FREE: Final = (float, bool)  # whole numbers are counts of trials or rounds: time; texts name files or downloads


@dataclass(frozen=True)
class Choices:
    """What a request chose in place of the server's method and stages; None is the server's own."""

    method: str | None = None
    foundation: str | None = None
    gate: str | None = None
    fit: str | None = None
    head: str | None = None
    space: str | None = None


@dataclass(frozen=True)
class Offer:
    """What a server runs, and what its clients may choose.

    Attributes:
        method: of requests that name none.
        foundation: in place of every method's own; None: the method's.
        foundations: that clients may name.
        device: that networks run on.
    """

    method: str = "default"
    foundation: str | None = None
    foundations: tuple[str, ...] = ("embedded", "none")
    device: str = "cpu"

    def methods(self) -> tuple[str, ...]:
        """Those that clients may name: the server's own, and all whose network needs no download."""
        free = [name for name, preset in METHODS.items() if self._is_free(preset)]
        return tuple(dict.fromkeys((self.method, *free)))

    def _is_free(self, preset: Method) -> bool:
        return self.foundation is not None or preset.foundation.partition(":")[0] in self.foundations

    def calibrator(self, choices: Choices) -> Calibrator:
        """The calibrator of a request; the same choices give the same object.

        Raises:
            ContractError: a name is unknown, or not among those that clients may choose.
        """
        method = choices.method or self.method
        if method not in self.methods():
            raise ContractError(f"method: {method[:60]!r} arrived; one of {', '.join(self.methods())} is needed")
        for stage in registry.STAGES:
            spec = getattr(choices, stage)
            if spec is not None and not (stage == "foundation" and spec == self.foundation):
                self._check_spec(stage, spec)
        foundation = choices.foundation or self.foundation
        return _calibrator(dataclasses.replace(choices, method=method, foundation=foundation), self.device)

    def _check_spec(self, stage: str, spec: str) -> None:
        """Raises `ContractError` for a spec that could read a file, load a network or run for hours."""
        name, _, argument = spec.partition(":")
        known = self.foundations if stage == "foundation" else tuple(registry.names(stage))
        if name not in known:
            raise ContractError(f"{stage}: {name[:60]!r} arrived; one of {', '.join(known)} is needed")
        if not argument:
            return
        made = registry.load(stage, name)
        kinds: dict[str, Any] = get_type_hints(made) if dataclasses.is_dataclass(made) else {}
        free = [key for key, kind in kinds.items() if kind in _FREE]
        for pair in argument.split(","):
            key = pair.partition("=")[0]
            if key not in free:
                raise ContractError(
                    f"{stage} {name}: option {key[:40]!r} is not for clients; "
                    + (f"free are {', '.join(free)}" if free else "none is")
                )


@lru_cache(maxsize=64)
def _calibrator(choices: Choices, device: str) -> Calibrator:
    given = {name: value for name, value in dataclasses.asdict(choices).items() if value is not None}
    return Calibrator(**given, device=device)
