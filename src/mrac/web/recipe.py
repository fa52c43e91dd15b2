"""A recipe: all that the page's controls say, checked; and the readings that it makes of a scene."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from mrac.anchors.readings import Anchors, joined
from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.outliers import Truth
from mrac.web.catalogue import DEFAULT_KAPPA, MAX_CLICKED, MAX_READINGS
from mrac.web.corruption import corrupt, max_range_m
from mrac.web.scenes import Pool, Scene

_LIMITS: Final = {
    "num_readings": (0, MAX_READINGS),
    "share": (0.0, 0.9),
    "seed": (0, 2**31),
    "kappa": (0.1, 20.0),
    "focal_px": (1.0, 1e6),
}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What to compute of a scene.

    Attributes:
        num_readings: how many of the scene's readings are taken, at random but for all of them.
        family: of `catalogue.FAMILIES`.
        share: of them that becomes wrong.
        seed: of both draws.
        clicked: (u, v, z_m) of each reading that was typed in.
        method: a name.
        foundation: a spec, or empty for the method's own.
        kappa: of the paper's gate, for methods that have it.
        focal_px: of the point cloud; None takes the camera's.
    """

    num_readings: int = 50
    family: str = "near"
    share: float = 0.0
    seed: int = 0
    clicked: tuple[tuple[float, float, float], ...] = ()
    method: str = "default"
    foundation: str = ""
    kappa: float = DEFAULT_KAPPA
    focal_px: float | None = None

    @classmethod
    def of(cls, fields: object) -> "Recipe":
        """The recipe in parsed JSON.

        Raises:
            ContractError: a field is unknown, of another type or out of its range.
        """
        if not isinstance(fields, Mapping):
            raise ContractError(f"recipe: {type(fields).__name__} arrived; an object is needed")
        unknown = set(fields) - set(cls.__dataclass_fields__)
        if unknown:
            raise ContractError(f"recipe: no field {min(unknown)!r:.60}; known: {', '.join(cls.__dataclass_fields__)}")
        given = dict(fields)
        for name in ("family", "method", "foundation"):
            if not isinstance(given.get(name, ""), str):
                raise ContractError(f"recipe: {name} = {given[name]!r:.60} arrived; text is needed")
        for name in _LIMITS:
            if name in given and not (name == "focal_px" and given[name] is None):
                given[name] = _number(name, given[name])
        if "clicked" in given:
            given["clicked"] = _clicked(given["clicked"])
        return cls(**given)

    def key(self, scene: Scene) -> str:
        """The same for the same result: of the scene, its readings and every field."""
        pool = "" if scene.pool is None else scene.pool.version
        text = json.dumps([scene.id, pool, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode(), usedforsecurity=False).hexdigest()[:24]


class Readings(NamedTuple):
    """The readings of a recipe.

    Attributes:
        anchors: K of them, those that were clicked last.
        true_m: (K,) what each says without the outliers that were put in.
        wrong: (K,) which ones those are.
        num_clicked: of the last ones.
    """

    anchors: Anchors
    true_m: FloatArray
    wrong: BoolArray
    num_clicked: int


def readings_of(scene: Scene, recipe: Recipe) -> Readings:
    """Chooses, corrupts and adds the clicked ones; the same recipe always gives the same readings."""
    drawn = _drawn(scene.pool, recipe)
    if not recipe.clicked:
        return drawn
    rows = np.array(recipe.clicked)
    count, stated = len(rows), drawn.anchors.sigma_m
    sigma = None
    if stated is not None:  # a typed reading is taken to be as exact as the sensor's usual one
        sigma = np.full(count, float(np.median(stated)) if stated.size else 0.0)
    return Readings(
        joined([drawn.anchors, Anchors(rows[:, :2], rows[:, 2], sigma)]),
        np.concatenate([drawn.true_m, rows[:, 2]]),
        np.concatenate([drawn.wrong, np.zeros(count, np.bool_)]),
        count,
    )


def _drawn(pool: Pool | None, recipe: Recipe) -> Readings:
    if pool is None:
        empty = np.zeros(0)
        return Readings(Anchors(np.zeros((0, 2)), empty), empty, np.zeros(0, np.bool_), 0)
    rng = np.random.default_rng(recipe.seed)
    count = len(pool.anchors)
    all_of_them = recipe.num_readings >= count
    chosen = np.arange(count) if all_of_them else rng.choice(count, recipe.num_readings, replace=False)
    base = pool.anchors.take(chosen)
    range_m = max_range_m(pool.depth_m)
    truth = Truth(uv_px=base.uv_px, z_m=base.z_m, truth_m=pool.depth_m, max_range_m=range_m)
    corrupted = corrupt(truth, recipe.family, recipe.share, rng)
    return Readings(replace(base, z_m=corrupted.z_m), base.z_m, corrupted.wrong, 0)


def _number(name: str, value: object) -> int | float:
    low, high = _LIMITS[name]
    kind = "a whole number" if isinstance(low, int) else "a number"
    if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:  # NaN is not
        if kind == "a number":
            return float(value)
        if value == int(value):
            return int(value)
    raise ContractError(f"recipe: {name} = {value!r:.60} arrived; {kind} from {low:g} to {high:g} is needed")


def _clicked(rows: object) -> tuple[tuple[float, float, float], ...]:
    if not isinstance(rows, list) or len(rows) > MAX_CLICKED:
        raise ContractError(f"recipe: clicked: a list of at most {MAX_CLICKED} readings (u, v, z_m) is needed")
    found = []
    for number, row in enumerate(rows, start=1):
        if not (isinstance(row, list) and len(row) == 3 and all(_is_finite(value) for value in row)):
            raise ContractError(
                f"recipe: clicked reading {number}: {row!r:.60} arrived; three numbers u, v, z_m are needed"
            )
        found.append((float(row[0]), float(row[1]), float(row[2])))
    return tuple(found)


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # JSON has whole numbers beyond any float
        return False
