from typing import Any

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.report.context import planned_cells
from mrac.lab.bench.report.results import CellKey
from tests.lab.bench.report.made import cell, context

GRID: dict[str, Any] = {
    "sets": ["nyu", "tum"],
    "methods": ["vanilla", "mrac"],
    "families": ["near"],
    "fractions": [0.0, 0.25],
}


def about(grid: dict[str, Any], **more: Any) -> dict[str, Any]:
    """As run.json has it."""
    protocol = Protocol.of({"name": "made", "grid": [grid]})
    return {"protocol": protocol.to_json(), "sets": {"nyu": {"images": 2}}, "methods": ["vanilla", "default"], **more}


def test_the_plan_is_the_protocol_s_for_the_methods_and_sets_that_were_chosen() -> None:
    plan = planned_cells([about({**GRID, "seeds": [0, 1]})])
    near: dict[str, Any] = {"family": "near", "fraction": 0.25}
    assert plan == {
        CellKey(set="nyu", method=method, **where): frozenset({0, 1})
        for method in ("vanilla", "default")
        for where in ({}, near)
    }


def test_what_the_command_did_not_ask_for_is_not_planned() -> None:
    asked = about(GRID, chosen={"methods": ["mrac"], "fractions": [0.25], "seeds": [2]})
    near = CellKey(set="nyu", method="mrac", family="near", fraction=0.25)
    assert planned_cells([asked]) == {near: frozenset({2})}


def test_a_run_of_several_calls_plans_what_each_asked_for() -> None:
    earlier = [{"chosen": {"methods": ["mrac"], "fractions": [0.25]}}]
    plan = planned_cells([about(GRID, chosen={"methods": ["vanilla"], "fractions": [0.0]}, earlier=earlier)])
    assert plan.keys() == {
        CellKey(set="nyu", method="mrac", family="near", fraction=0.25),
        CellKey(set="nyu", method="vanilla"),
    }


def test_plans_of_several_runs_are_one() -> None:
    plan = planned_cells([about({**GRID, "seeds": [0]}), about({**GRID, "seeds": [1, 2]})])
    assert plan[CellKey(set="nyu", method="vanilla")] == frozenset({0, 1, 2})


def test_a_plan_with_a_method_that_is_not_installed_cannot_be_read() -> None:
    with pytest.raises(ContractError, match="somebody_elses"):
        planned_cells([about(GRID, methods=["somebody_elses"])])


def test_names_are_of_cells_that_are_there_or_should_be() -> None:
    made = context(cell("vanilla", [0.1], set="tum"), missing=[CellKey(set="nyu", method="mrac")])
    assert made.names("set") == ["nyu", "tum"]
    assert made.names("method", set="nyu") == ["mrac"]
    names = made.names("set")
    names.clear()  # what is handed out is the caller's
    assert made.names("set") == ["nyu", "tum"]


def test_a_study_takes_the_seed_that_all_of_its_cells_have() -> None:
    rows = [row for seed in (0, 1) for row in cell("vanilla", [0.1], seed=seed)]
    made = context([*rows, *cell("mrac", [0.1], seed=1), *cell("default", [0.1], seed=2)])
    vanilla, mrac, default, gone = (CellKey(set="nyu", method=m) for m in ("vanilla", "mrac", "default", "b_prime"))
    assert made.common_seed([vanilla, mrac, gone]) == [1]
    assert made.common_seed([vanilla, default]) is None
    assert made.common_seed([gone]) is None


def test_a_cell_with_half_of_its_seeds_says_how_many_are_missing() -> None:
    key = CellKey(set="nyu", method="vanilla")
    made = context(cell("vanilla", [0.1]))
    made = type(made)(results=made.results, plan={key: frozenset({0, 1, 2})})
    entry = made.entry(key)
    assert (entry.text, entry.num_missing) == ("0.100", 2)
    assert made.entry(key, seeds=[0]).num_missing == 0
