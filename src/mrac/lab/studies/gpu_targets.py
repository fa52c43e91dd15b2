"""The figures that the GPU path is to reach on one H200, and what a run of `gpu_speed` measured.

A frame is 480 × 640 with 50 readings unless it says otherwise.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

MAX_HALF: Final = 0.005  # mean relative difference of half precision from single


class Row(NamedTuple):
    """One figure: where it stands, in `unit`, at most (or, `at_least`, at least) `bound`."""

    what: str
    found: float
    bound: float
    aim: float
    unit: str = "ms"
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the bound is kept."""
        return self.found >= self.bound if self.at_least else self.found <= self.bound

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        kept = "met" if self.met else "MISSED"
        return f"{self.what:<62}{self.found:>10.4g} {self.unit:<6}{sign} {self.bound:g} (aim {self.aim:g})  {kept}"


def rows(found: Mapping[str, Any]) -> list[Row]:
    """Every figure that a run of `gpu_speed` has measured; a part that failed or was left out has none."""
    return [*_of_default(found.get("default", {})), *_of_paper(found.get("paper", {}))]


def _of_default(default: Mapping[str, Any]) -> Iterator[Row]:
    for name, part in default.items():
        for dtype, batches in part.get("timings", {}).items():
            where = f"default, {name}, {dtype}"
            if one := batches.get("batch 1"):
                yield Row(f"{where}, batch 1", one["end_to_end"]["mean_ms"], 2.5, 1.2)
                yield Row(f"gate + fit + kriging, {name}, {dtype}", one["gate_fit_kriging"]["mean_ms"], 1.0, 0.5)
            if many := batches.get("batch 64"):
                yield Row(f"{where}, batch 64, a frame", many["end_to_end_ms_per_frame"], 0.2, 0.1)
        for dtype, off in part.get("half_against_single", {}).items():
            yield Row(f"{dtype} against float32, {name}", off["depth"], MAX_HALF, MAX_HALF, "")
        if "profile" in part:
            waits = sum(part["profile"]["host_waits"].values())
            own = sum(part["profile"]["host_waits_of_the_profiler_itself"].values())
            yield Row(f"waits for the device in a call, {name}", waits - own, 0.0, 0.0, "")


def _of_paper(paper: Mapping[str, Any]) -> Iterator[Row]:
    bounds = {
        "480x640 as 518x686, batch 1": (8.0, 6.5),
        "480x640 as 518x686, batch 32": (6.2, 6.2),
        "352x1216 as 350x1218, batch 1": (9.0, 9.0),
        "352x1216 as 518x1792, batch 1": (9.0, 9.0),
    }
    for name, part in paper.items():
        if name in bounds:
            yield Row(f"DAv2-L, gate, fit, head, {name}, a frame", part["ms_per_frame"], *bounds[name])
        if name == "480x640 as 518x686, batch 1":
            ratio = part["eager_over_recorded"]
            yield Row("the paper's scheme in eager float32 takes longer", ratio, 5.0, 5.0, "times", at_least=True)
        yield Row(f"DAv2-L, half against single, {name}", part["half_against_single"], MAX_HALF, MAX_HALF, "")
