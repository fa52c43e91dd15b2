"""A protocol is a file: grids of conditions and methods. From it come cells, the unit in which results are kept."""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Final, Self

from mrac import registry
from mrac.errors import ContractError
from mrac.io.files import user_path
from mrac.lab.bench.methods import parse_method
from mrac.limits import READINGS

FOLDER: Final = Path(__file__).parent / "protocols"
CLEAN: Final = "none"  # the family of fraction 0: nothing is corrupted, whatever would have done it
TRUTH: Final = "truth"  # the source of anchors that are drawn from ground truth
REAL_FAMILIES: Final = ("natural", "enriched")  # of sources that are real sensors: nothing is injected
_DEFAULTS: Final[dict[str, tuple[Any, ...]]] = {
    "families": (CLEAN,),
    "fractions": (0.0,),
    "anchors": (50,),
    "seeds": (0,),
    "placements": ("random",),
    "sources": (TRUTH,),
}
LISTS: Final = ("sets", "methods", *_DEFAULTS)


@dataclass(frozen=True, order=True, kw_only=True)
class Condition:
    """What the anchors of an image are.

    Attributes:
        set_name: of the data set.
        source: `truth`, or the real sensor that the readings come from.
        placement: where they are taken.
        num_anchors: K.
        seed: of the draw.
        family: what is wrong with them, as `mrac list outliers` has it, options included; `none` for clean ones.
        fraction: of them that is wrong.
    """

    set_name: str
    source: str = TRUTH
    placement: str = "random"
    num_anchors: int = 50
    seed: int = 0
    family: str = CLEAN
    fraction: float = 0.0

    @property
    def columns(self) -> dict[str, Any]:
        """As results name them."""
        return {
            "set": self.set_name,
            "family": self.family,
            "fraction": self.fraction,
            "num_anchors": self.num_anchors,
            "seed": self.seed,
            "placement": self.placement,
            "source": self.source,
        }


@dataclass(frozen=True, order=True)
class Cell:
    """A condition and the method that faces it, in its canonical spelling."""

    condition: Condition
    method: str


@dataclass(frozen=True)
class Protocol:
    """The content of a protocol file.

    Attributes:
        name: of the protocol.
        shows: what it is for.
        grids: lists by name; each grid is their product.
        families: options of outlier families by name, which differ from the family's own defaults or state them.
        limit: images per set, the first ones; None takes all.
    """

    name: str
    shows: str
    grids: tuple[Mapping[str, tuple[Any, ...]], ...]
    families: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    limit: int | None = None

    @classmethod
    def read(cls, name: str) -> Self:
        """The protocol of a name, or in the .toml file of a path.

        Raises:
            ContractError: there is none, or it says what no protocol says.
        """
        path = user_path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError:
            raise ContractError(
                f"bench: no protocol {name!r}; known: {', '.join(protocol_names())}, or the path of a .toml file"
            ) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ContractError(f"{path}: not a TOML file ({error})") from None
        return cls.of(content, f"protocol {path.stem}")

    @classmethod
    def of(cls, content: Mapping[str, Any], where: str = "protocol") -> Self:
        """The protocol that the parsed content of a file describes."""
        _known(content, ("name", "shows", "limit", "families", "grid"), where)
        families = {name: dict(options) for name, options in content.get("families", {}).items()}
        grids = tuple(_grid(grid, where) for grid in content.get("grid", ()))
        if not grids:
            raise ContractError(f"{where}: no [[grid]]; at least one is needed")
        made = cls(
            str(content.get("name", where)), str(content.get("shows", "")), grids, families, content.get("limit")
        )
        made.cells()  # so that a slip is named before anything runs
        return made

    def to_json(self) -> dict[str, Any]:
        """All of it, as plain values."""
        return {
            "name": self.name,
            "shows": self.shows,
            "limit": self.limit,
            "families": {name: dict(options) for name, options in self.families.items()},
            "grid": [{name: list(values) for name, values in grid.items()} for grid in self.grids],
        }

    @property
    def hash(self) -> str:
        """Twelve hex digits: equal if and only if the content is, comments and layout aside."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:12]

    def choose(self, chosen: Mapping[str, Sequence[Any]]) -> Self:
        """The protocol with some of its lists chosen anew.

        A value that any grid lists stays with the grids that list it; one that none lists goes to all of them. So a
        choice among a study's own values is a part of the study, and a new method or set meets everything in it.

        Raises:
            ContractError: nothing is left.
        """
        known = {name: {value for grid in self.grids for value in grid[name]} for name in LISTS}
        grids = []
        for grid in self.grids:
            lists = dict(grid)
            for name, values in chosen.items():
                lists[name] = tuple(v for v in values if v in grid[name] or v not in known[name])
            if all(lists.values()):
                grids.append(lists)
        if not grids:
            raise ContractError(f"bench: nothing of protocol {self.name} is left by {_described(chosen)}")
        return type(self)(self.name, self.shows, tuple(grids), self.families, self.limit)

    def cells(self) -> list[Cell]:
        """All cells, each once, in the order of the file; fraction 0 is one condition for all families.

        Raises:
            ContractError: a family, a placement or a method is unknown, or does not go with its source.
        """
        cells: dict[Cell, None] = {}
        for grid in self.grids:
            order = ("sets", "sources", "placements", "anchors", "seeds", "families", "fractions")
            methods = [parse_method(text).text for text in grid["methods"]]
            for values in product(*(grid[name] for name in order)):
                condition = _condition(*values)
                cells.update(dict.fromkeys(Cell(condition, method) for method in methods))
        for family in {cell.condition.family for cell in cells} - {CLEAN, *REAL_FAMILIES}:
            registry.create("outlier", self.family_spec(family))
        for placement in {cell.condition.placement for cell in cells}:
            registry.create("placement", placement)
        return list(cells)

    def family_spec(self, family: str) -> str:
        """What `registry.create` makes the family of: the protocol's options, and over them those in its own name."""
        name, _, inline = family.partition(":")
        options = {key: f"{value}" for key, value in self.families.get(name, {}).items()}
        options |= {key: value for key, _, value in (pair.partition("=") for pair in inline.split(",") if pair)}
        return f"{name}:{','.join(f'{key}={value}' for key, value in options.items())}" if options else name


def protocol_names() -> list[str]:
    """Of the protocols in the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def _grid(grid: Mapping[str, Any], where: str) -> dict[str, tuple[Any, ...]]:
    _known(grid, LISTS, f"{where}: [[grid]]")
    lists = {name: grid.get(name, _DEFAULTS.get(name, ())) for name in LISTS}
    for name, values in lists.items():
        if not isinstance(values, (list, tuple)) or not values:
            raise ContractError(f"{where}: [[grid]] has {name} = {values!r}; a list of one or more is needed")
        kind: Any = {"fractions": (int, float), "anchors": int, "seeds": int}.get(name, str)
        if any(isinstance(value, bool) or not isinstance(value, kind) for value in values):
            raise ContractError(f"{where}: [[grid]] has {name} = {values!r}; {_KIND_WORDS.get(name, 'text')} is needed")
    if any(not 0.0 <= fraction <= 1.0 for fraction in lists["fractions"]):
        raise ContractError(f"{where}: [[grid]] has fractions = {lists['fractions']!r}; numbers from 0 to 1 are needed")
    if any(number < 1 for number in lists["anchors"]):
        raise ContractError(f"{where}: [[grid]] has anchors = {lists['anchors']!r}; numbers >= 1 are needed")
    return {name: tuple(map(float, v)) if name == "fractions" else tuple(v) for name, v in lists.items()}


_KIND_WORDS: Final = {"fractions": "numbers", "anchors": "whole numbers", "seeds": "whole numbers"}


def _condition(
    set_name: str, source: str, placement: str, num_anchors: int, seed: int, family: str, fraction: float
) -> Condition:
    for name, value, low, high in (
        ("fraction", fraction, 0.0, 1.0), ("anchors", num_anchors, 1, READINGS), ("seed", seed, 0, 2**32 - 1)
    ):  # fmt: skip
        if not low <= value <= high:  # NaN too
            raise ContractError(f"bench: {name} {value} arrived; a number from {low:g} to {high:,} is needed")
    if (source == TRUTH) == (family in REAL_FAMILIES):
        raise ContractError(
            f"bench: family {family!r} with source {source!r}; {' and '.join(REAL_FAMILIES)} are for real sensors, "
            f"all others for {TRUTH!r}"
        )
    if family == "natural":  # the share of wrong readings is the sensor's own
        fraction = 0.0
    elif source == TRUTH and (family == CLEAN or fraction == 0.0):  # one condition, whatever would have corrupted it
        family, fraction = CLEAN, 0.0
    return Condition(
        set_name=set_name,
        source=source,
        placement=placement,
        num_anchors=num_anchors,
        seed=seed,
        family=family,
        fraction=fraction,
    )


def _known(content: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    if unknown := sorted(content.keys() - set(names)):
        raise ContractError(f"{where}: no such entry {unknown[0]!r}; known: {', '.join(names)}")


def _described(chosen: Mapping[str, Sequence[Any]]) -> str:
    return "; ".join(f"--{name} {','.join(map(str, values))}" for name, values in chosen.items())
