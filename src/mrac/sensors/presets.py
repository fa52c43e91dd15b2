"""The table `presets.toml`, and what a sensor's entry means for its files and its readings."""

import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.input_file import read_toml

if TYPE_CHECKING:
    from mrac.anchors.sources import SourceOptions

PRESETS: Final = Path(__file__).with_name("presets.toml")
OUT_OF_RANGE: Final = "out_of_sensor_range"
SATURATED: Final = "saturated"
_STEP: Final = 1e-6  # of a saturation value, within which a reading is at it: division by the scale rounds


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """What is known of a range sensor before any reading; `presets.toml` explains each number and where it is from.

    Attributes:
        name: of its table.
        per_metre: stored units per metre; 0 where it has no metric unit.
        quantity: `z` along the optical axis or `range`, the length of the ray.
        sigma_m: metres, constant part of the standard deviation of a reading.
        sigma_share: part in proportion to depth.
        sigma_square: part in proportion to its square, per metre.
        min_m: nearest plausible reading.
        max_m: farthest.
        saturation: stored values that are no reading.
        outlier_share: share of wrong readings to expect; None where nobody measured it.
        fov_deg: (horizontal, vertical) of a zone sensor; None for others.
        source: where the numbers are from.
    """

    name: str
    per_metre: float = 1.0
    quantity: str = "z"
    sigma_m: float = 0.0
    sigma_share: float = 0.0
    sigma_square: float = 0.0
    min_m: float = 0.0
    max_m: float = math.inf
    saturation: tuple[float, ...] = ()
    outlier_share: float | None = None
    fov_deg: tuple[float, float] | None = None
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("per_metre", "sigma_m", "sigma_share", "sigma_square", "min_m", "max_m", "outlier_share"):
            value = getattr(self, name)
            if name == "outlier_share" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0.0:
                raise ContractError(f"sensor {self.name}: {name} = {value!r} arrived, a number >= 0 is needed")
            object.__setattr__(self, name, float(value))
        if self.quantity not in ("z", "range"):
            raise ContractError(f'sensor {self.name}: quantity = {self.quantity!r} arrived, "z" or "range" is needed')
        if self.min_m >= self.max_m:
            raise ContractError(f"sensor {self.name}: min_m {self.min_m:g} is not below max_m {self.max_m:g}")
        if self.outlier_share is not None and self.outlier_share >= 1.0:
            raise ContractError(f"sensor {self.name}: outlier_share {self.outlier_share:g} arrived, below 1 is needed")
        for name, count in (("saturation", None), ("fov_deg", 2)):
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, _numbers(values, f"sensor {self.name}: {name}", count))

    def sigma(self, z_m: FloatArray) -> FloatArray | None:
        """Standard deviation in metres of readings of any shape; None without a noise model."""
        if not (self.sigma_m or self.sigma_share or self.sigma_square):
            return None
        return np.asarray(self.sigma_m + self.sigma_share * z_m + self.sigma_square * z_m**2)

    def completed(self, options: "SourceOptions") -> "SourceOptions":
        """The options to read a file of this sensor with: its unit and, of zones, what it sees, where they are open."""
        sees = self.fov_deg if options.kind == "zones" and options.camera is not None else None
        return replace(options, default_scale=self.per_metre or None, fov_deg=options.fov_deg or sees)

    def apply(self, anchors: Anchors) -> Anchors:
        """Readings in metres with this sensor's noise where they state none, and with impossible ones flagged.

        A standard deviation is missing where it is NaN. Flags: `saturated` for a stored value that is no reading,
        `out_of_sensor_range` beyond `min_m` and `max_m`; a flag that a reading has is kept.
        """
        z, stated = anchors.z_m, anchors.sigma_m
        usual = self.sigma(z)
        sigma = stated if usual is None else usual if stated is None else np.where(np.isnan(stated), usual, stated)
        flag = np.full(z.size, UNFLAGGED, f"<U{len(OUT_OF_RANGE)}")
        if self.per_metre:
            flag[(z < self.min_m) | (z > self.max_m)] = OUT_OF_RANGE
            for value in self.saturation:
                at = value / self.per_metre
                flag[np.abs(z - at) <= _STEP * max(abs(at), 1.0 / self.per_metre)] = SATURATED
        if anchors.flag is not None:
            flag = np.where(anchors.flag == UNFLAGGED, flag, anchors.flag)
        flagged = flag if anchors.flag is not None or (flag != UNFLAGGED).any() else None
        return replace(anchors, sigma_m=sigma, flag=flagged)


def sensor_names() -> tuple[str, ...]:
    """The names in the package's own table."""
    return tuple(_tables(PRESETS))


def sensor(name: str | Path) -> Sensor:
    """A sensor by name, or from a TOML file of one's own with one table (`FILE.toml`) or several (`FILE.toml:NAME`).

    Raises:
        ContractError: no such name or file, or an entry that is not understood.
    """
    text = str(name)
    path, _, table = text.partition(".toml")
    if table or text.endswith(".toml"):
        tables = _tables(Path(f"{path}.toml").expanduser())
        chosen = table.removeprefix(":") or (next(iter(tables)) if len(tables) == 1 else "")
        where = f"{path}.toml"
    else:
        tables, chosen, where = _tables(PRESETS), text, "sensor"
    if chosen not in tables:
        hint = ", or the path of a .toml file" if where == "sensor" else f", as {where}:NAME"
        raise ContractError(f"{where}: {chosen!r} is not a sensor; one of {', '.join(tables)} is needed{hint}")
    entry = tables[chosen]
    known = {field.name for field in fields(Sensor)} - {"name"}
    if unknown := sorted(entry.keys() - known):
        raise ContractError(f"{where}: {chosen} has {unknown[0]!r}; known are {', '.join(sorted(known))}")
    return Sensor(name=chosen, **entry)


def _tables(path: Path) -> dict[str, dict[str, Any]]:
    content = read_toml(path)
    if not content or not all(isinstance(entry, dict) for entry in content.values()):
        raise ContractError(f"{path}: a table for each sensor, [name], is needed, with its numbers below")
    return content


def _numbers(values: Any, what: str, count: int | None) -> tuple[float, ...]:
    good = isinstance(values, list | tuple) and all(isinstance(v, int | float) for v in values)
    if not good or (count is not None and len(values) != count):
        raise ContractError(f"{what} = {values!r} arrived, {count or 'any number of'} numbers in [] are needed")
    return tuple(float(v) for v in values)
