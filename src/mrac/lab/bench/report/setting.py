"""In what a run's setting is not the paper's, said from what the run recorded: a number alone would mislead."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import METHODS, family_label, paper_set, set_label
from mrac.lab.bench.report.table import Better, Table, mark_best, shortfall
from mrac.lab.data.manifest import rules_of

# The paper's Sec. IV: name, what a table's foot says of it, and the rest.
_PAPER_SETS: Final = {
    "nyuv2": ("NYUv2", "654 images", "Eigen test split, in-filled depth, to 80 m"),
    "kitti": ("KITTI", "651 Eigen frames", "Eigen test split, Garg crop, to 80 m"),
    "diode": ("DIODE", "771 images", "validation set, indoors and outdoors"),
    "sunrgbd": ("SUN RGB-D", "2067 images", "every fifth of the whole set"),
}
_PAPER_FOUNDATION: Final = "Depth Anything V2 Large, 335 M parameters"
# What sets of the evaluation pack are, where their name says less: in a foot, and in full.
_OUR_SETS: Final = {
    "nyu": ("images", "official test split, in-filled 8-bit depth"),
    "kitti15": ("frames of Stereo 2015", "KITTI Stereo 2015, disparity with occluded pixels as depth"),
    "sunrgbd": ("images of one shop", "Kinect v2, raw depth"),
    "tum": ("frames", "two hand-held Kinect sequences, raw depth"),
}
_FOUNDATIONS: Final = {
    "embedded": "the network in the package, 5.4 M parameters",
    "none": "no network",
}
# Ours under the paper's names: the recipe is the same, the training is not.
_RETRAINED: Final = frozenset(("vanilla", "b_prime", "mrac", "mrac_b_prime", "ransac_residual", "raw_depth"))


def num_images(context: Context, set_name: str) -> int:
    """Of a set, as the runs recorded it or, without a record, as their rows have it."""
    recorded = [run.get("sets", {}).get(set_name, {}).get("images", 0) for run in context.runs]
    if any(recorded):
        return int(max(recorded))
    columns = context.results.columns
    return int(np.unique(columns["image"][columns["set"] == set_name]).size)


def differences(context: Context, sets: Iterable[str], methods: Iterable[str]) -> tuple[str, ...]:
    """For the foot of a table with these sets and methods: each as it is here and, in brackets, in the paper."""
    if context.paper is None:
        return ()
    sets, names = list(sets), {method.partition(";")[0] for method in methods}
    clauses = []
    for name in sets:
        count = f"{num_images(context, name)} {_OUR_SETS.get(name, ('images',))[0]}"
        theirs = _PAPER_SETS.get(paper_set(name))
        clauses.append(f"{set_label(name)} {count} ({theirs[1] if theirs else 'not in it'})")
    if len(sets) > 1:
        there = {paper_set(name) for name in context.names("set")}
        clauses += [f"no {label}" for key, (label, _, _) in _PAPER_SETS.items() if key not in there]
    clauses += [f"{what} ({_PAPER_FOUNDATION})" for what in _foundations(context, methods)]
    if "sml_retrained" in names and context.counterpart("sml_retrained") == "vi_depth":
        clauses.append(f"{METHODS['sml_retrained']} by us on that network (VI-Depth as published, on its own)")
    if names & _RETRAINED:
        clauses.append("heads trained by us on other data (theirs)")
    return tuple(clauses)


def setting(context: Context) -> list[str]:
    """The whole setting in sentences, for the head of a report."""
    lines = []
    for name in context.names("set"):
        what = _OUR_SETS.get(name, ("", ""))[1]
        here = f"{set_label(name)}: {num_images(context, name)} images{f' ({what}{_rules(name)})' if what else ''}"
        theirs = _PAPER_SETS.get(paper_set(name))
        beside = f"the paper: {theirs[1]} ({theirs[2]})" if theirs else "the paper has no such set"
        lines.append(f"{here}; {beside}." if context.paper else f"{here}.")
    if context.paper:
        lines += [f"Foundation: {what}; the paper: {_PAPER_FOUNDATION}." for what in _foundations(context)]
        methods = context.names("method")
        if "sml_retrained" in methods and context.counterpart("sml_retrained") == "vi_depth":
            lines.append(
                f"{METHODS['sml_retrained']} is VI-Depth's learner trained by us on the same network as all others; "
                "the paper's VI-Depth is the published one on dpt-swin2-large-384."
            )
        if {method.partition(";")[0] for method in methods} & _RETRAINED:
            lines.append("The heads follow the paper's recipe; they were trained by us, on this project's images.")
    families = {name: own for run in context.runs for name, own in run["protocol"].get("families", {}).items()}
    for family, options in families.items():
        values = ", ".join(f"{name} {value:g}" for name, value in options.items())
        unstated = _UNSTATED if context.paper and family in FAMILIES else "."
        lines.append(f"{family_label(family)} readings: {values}{unstated}")
    return lines


_UNSTATED: Final = "; the paper does not print its own values."


def _rules(set_name: str) -> str:
    """The crop and the range under which a set of a manifest is scored."""
    rules = rules_of(set_name)
    crop = {"none": "whole image", "nyu": "Eigen crop"}.get(rules.crop, f"{rules.crop} crop")
    return f", {crop}, to {rules.max_depth_m:g} m"


def _foundations(context: Context, methods: Iterable[str] | None = None) -> list[str]:
    """What stood below the methods, as the runs recorded it."""
    columns = context.results.columns
    if "foundation" not in columns:
        return []
    rows = slice(None) if methods is None else np.isin(columns["method"], list(methods))
    found = [str(name) for name in np.unique(columns["foundation"][rows]) if name]
    return [_FOUNDATIONS.get(name, f"foundation {name}") for name in found]


def finished(
    context: Context,
    table: Table,
    better: Better | Sequence[Better],
    *,
    sets: Iterable[str],
    methods: Iterable[str],
    across: bool = False,
) -> Table:
    """A table with its best entries marked, what is missing or failed admitted, and the setting beside the paper's.

    Args:
        context: of the report.
        table: its rows unmarked.
        better: which way, for all columns or per column.
        sets: that it shows.
        methods: that it shows.
        across: the best of each row in place of each column.
    """
    stated = any(row.has_paper for row in table.rows)
    ways = [better] * len(table.columns) if isinstance(better, str) else better
    return replace(
        table,
        rows=mark_best(table.rows, ways, across=across),
        best_of="row" if across else "column",
        notes=(*table.notes, *shortfall(table.rows)),
        differences=differences(context, sets, methods) if stated else (),
    )
