"""What tables and figures call methods, sets and families, and in which order; what is not known keeps its own name."""

from collections.abc import Iterable
from typing import Final

from mrac import registry
from mrac.errors import ContractError
from mrac.lab.bench.methods import parse_method

METHODS: Final = {
    "raw_depth": "raw depth",
    "cfa_ols": "cfa-ols",
    "cfa_huber": "cfa-huber",
    "cfa_ransac": "cfa-ransac",
    "vanilla": "vanilla",
    "b_prime": "B′",
    "ransac_residual": "RANSAC patch",
    "mrac": "MRAC/van",
    "mrac_b_prime": "MRAC/B′",
    "vi_depth_ga": "VI-Depth GA",
    "sml_retrained": "SML retrained",
    "vi_depth": "VI-Depth",
    "vi_depth_scaffold": "VI-Depth scaffold",
    "ransac_inverse": "RANSAC inverse",
    "knn_alignment": "kNN alignment",
    "truncated_l1": "truncated L1",
    "siegel": "Siegel",
    "gnc": "GNC",
    "msac": "MSAC",
    "poisson_log": "Poisson log",
    "patch_scale": "patch scale",
    "delaunay": "Delaunay",
    "nearest": "nearest",
    "default": "default",
    "fast": "fast",
    "open": "open",
}
# Heads of narrow columns.
SHORT: Final = {
    "raw_depth": "raw",
    "cfa_ols": "ols",
    "cfa_huber": "huber",
    "cfa_ransac": "ransac",
    "vanilla": "van",
    "ransac_residual": "patch",
    "mrac": "M/van",
    "mrac_b_prime": "M/B′",
    "vi_depth_ga": "GA",
    "sml_retrained": "SML",
    "vi_depth": "VI",
    "vi_depth_scaffold": "scaffold",
    "ransac_inverse": "R inv",
    "knn_alignment": "kNN",
    "truncated_l1": "L1",
    "poisson_log": "Poisson",
    "patch_scale": "patches",
    "mixed_pixel": "mixed",
}
_GATES: Final = {
    "none": "no gate",
    "theil_sen_mad": "paper's gate",
    "oracle": "oracle gate",
    "consensus": "consensus gate",
    "consensus_learned": "learned gate",
    "siegel_mad": "Siegel + MAD gate",
    "gnc": "GNC gate",
    "msac": "MSAC gate",
    "ransac": "RANSAC gate",
    "range": "range limit",
}
FAMILIES: Final = {
    "uniform": "uniform",
    "near": "near",
    "dropout": "dropout",
    "mixed_pixel": "mixed pixel",
    "none": "clean",
    "gaussian": "gaussian",
    "natural": "natural rate",
    "enriched": "enriched",
}
SETS: Final = {
    "nyu": "NYUv2",
    "nyuv2": "NYUv2",
    "nyuv2_filled": "NYUv2 filled",
    "kitti15": "KITTI-15",
    "kitti": "KITTI",
    "diode": "DIODE",
    "diode_indoors": "DIODE indoors",
    "diode_outdoor": "DIODE outdoor",
    "sunrgbd": "SUN RGB-D",
    "sunrgbd_stride5": "SUN RGB-D",
    "tum": "TUM",
    "cleargrasp": "ClearGrasp",
    "prior_da": "Prior-DA",
    "tabletop": "table tops",
    "void": "VOID",
}
METRICS: Final = {
    "abs_rel": "AbsRel",
    "sq_rel": "SqRel",
    "rmse": "RMSE",
    "rmse_log": "RMSElog",
    "log10": "log10",
    "delta1": "δ₁",
    "delta2": "δ₂",
    "delta3": "δ₃",
}
PLACEMENTS: Final = {
    "random": "random",
    "farthest_point": "farthest point",
    "uncertainty_active": "uncertainty-active",
    "stratified": "stratified",
}
# The placements of protocol `sensors`; a half and a corner are what its regions are.
SENSORS: Final = {
    "random": "random",
    "beams:num=1": "one row",
    "beams:num=4": "4 beams",
    "beams:num=16": "16 beams",
    "beams:num=64": "64 beams",
    "zones:num=4": "4 × 4 zones",
    "zones:num=8": "8 × 8 zones",
    "features": "image corners",
    "range_limited": "the nearer half",
    "region:right=0.5,bottom=1.0": "left half",
    "region:right=0.3,bottom=0.3": "upper left corner",
}
# Under which name the paper has a set, a comparable one if not the same; TUM stands where DIODE stood, and is no match.
_PAPER_SETS: Final = {"nyu": "nyuv2", "nyuv2": "nyuv2", "kitti": "kitti", "diode": "diode", "sunrgbd": "sunrgbd"}
_DEFAULT_KAPPA: Final = 2.0
_KAPPA: Final = "theil_sen_mad:kappa="


def paper_set(set_name: str) -> str:
    """The paper's set that one of ours stands for; "" where it has none."""
    return next((_PAPER_SETS[name] for name in sorted(_PAPER_SETS, reverse=True) if set_name.startswith(name)), "")


def short(name: str) -> str:
    """`M/B′` for `mrac_b_prime`: heads a narrow column."""
    return SHORT.get(name, method_label(name))


def set_label(name: str) -> str:
    """`NYUv2` for `nyu`."""
    return SETS.get(name, name)


def family_label(name: str) -> str:
    """`mixed pixel` for `mixed_pixel`; options stay behind it."""
    bare, colon, options = name.partition(":")
    return FAMILIES.get(bare, bare) + (f", {options}" if colon else "")


def method_label(method: str) -> str:
    """`MRAC/B′, κ = 3` for `mrac_b_prime;gate=theil_sen_mad:kappa=3`."""
    name, *stages = method.split(";")
    words = [METHODS.get(name, name)]
    for stage in stages:
        what, _, spec = stage.partition("=")
        if what == "gate" and spec.startswith(_KAPPA):
            words.append(f"κ = {spec.removeprefix(_KAPPA)}")
        elif what == "gate":
            words.append(_GATES.get(spec, f"gate {spec}"))
        else:
            words.append(f"{what} {spec}")
    return ", ".join(words)


def kappa(method: str) -> float | None:
    """The multiplier of the paper's gate in a method; None where it has another gate, or is not installed."""
    try:
        spec = parse_method(method)
        gate = spec.stages.get("gate") or registry.load("method", spec.name).gate
    except ContractError:
        return None
    name, _, options = str(gate).partition(":")
    if name != "theil_sen_mad":
        return None
    chosen = dict(pair.split("=", 1) for pair in options.split(",") if "=" in pair)
    return float(chosen.get("kappa", _DEFAULT_KAPPA))


def without_kappa(method: str) -> str:
    """The method with its gate's own multiplier: what a sweep of it has in common."""
    name, *stages = method.split(";")
    return ";".join([name, *(s for s in stages if not s.startswith(f"gate={_KAPPA}"))])


def foundation(method: str) -> str:
    """What a method has in place of its own foundation; "" where it keeps that."""
    return _stage(method, "foundation")


def without_foundation(method: str) -> str:
    """The method on its own foundation."""
    name, *stages = method.split(";")
    return ";".join([name, *(s for s in stages if not s.startswith("foundation="))])


def fault(method: str) -> str:
    """What spoils the field of a method's foundation, see `mrac.lab.foundation_faults`; "" where nothing does."""
    return _stage(method, "fault")


def _stage(method: str, stage: str) -> str:
    """Not by `parse_method`: what is not installed here has a label too."""
    return {name: spec for name, _, spec in (choice.partition("=") for choice in method.split(";")[1:])}.get(stage, "")


def fault_label(method: str) -> str:
    """`upside down` for `default;fault=upside_down`."""
    return fault(method).replace("_", " ") or "as it is"


def is_swept(method: str) -> bool:
    """Whether a method is a point of a study of κ, of foundations or of their faults, which has tables of its own."""
    return without_kappa(method) != method or bool(foundation(method) or fault(method))


def corruption_label(family: str, fraction: float) -> str:
    """`near 25 %`, or `clean` where nothing is wrong: heads a narrow column."""
    return f"{SHORT.get(family, family)} {percent(fraction)}" if fraction else "clean"


def percent(share: float) -> str:
    """`25 %`."""
    return f"{100.0 * share:g} %"


def ordered(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Known names in the order in which they are known, variants of one behind it, the others last, sorted."""
    places = {name: place for place, name in enumerate(known)}

    def place(name: str) -> tuple[int, str]:
        return places.get(name.partition(";")[0].partition(":")[0], len(places)), name

    return sorted(set(names), key=place)
