import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Cell, Condition, Protocol, protocol_names

Make = Callable[..., Protocol]


@pytest.mark.parametrize("name", protocol_names())
def test_every_protocol_of_the_package_is_one(name: str) -> None:
    protocol = Protocol.read(name)
    assert protocol.name == name
    assert protocol.shows
    assert len(protocol.cells()) == len(set(protocol.cells())) > 0
    assert Protocol.of(protocol.to_json()) == protocol


def test_the_paper_s_grid_has_its_320_cells() -> None:
    five = ["vanilla", "b_prime", "mrac", "mrac_b_prime", "sml_retrained"]
    cells = Protocol.read("paper").choose({"methods": five}).cells()
    clean = [cell for cell in cells if cell.condition.fraction == 0.0]
    # The paper counts the clean cells once per family; they are one computation.
    assert len(cells) - len(clean) + 4 * len(clean) == 320
    assert {cell.condition.family for cell in cells} == {"none", "uniform", "near", "dropout", "mixed_pixel"}
    assert {cell.condition.fraction for cell in cells} == {0.0, 0.1, 0.25, 0.4}
    assert {cell.condition.num_anchors for cell in cells} == {50}


def test_clean_is_one_condition_whatever_the_family(make_protocol: Make) -> None:
    protocol = make_protocol(families=["near", "uniform"], fractions=[0, 0.5])
    conditions = [cell.condition for cell in protocol.cells()]
    assert [(c.family, c.fraction) for c in conditions] == [("none", 0.0), ("near", 0.5), ("uniform", 0.5)]


def test_grids_are_joined_without_repetition() -> None:
    grid = {"sets": ["a"], "methods": ["mrac"], "anchors": [5, 10]}
    both = Protocol.of({"name": "x", "grid": [grid, {**grid, "anchors": [10, 20]}]})
    assert [cell.condition.num_anchors for cell in both.cells()] == [5, 10, 20]


def test_natural_readings_have_no_fraction_and_enriched_ones_do(make_protocol: Make) -> None:
    protocol = make_protocol(sources=["lidar"], families=["natural", "enriched"], fractions=[0.0, 0.1])
    assert [(cell.condition.family, cell.condition.fraction) for cell in protocol.cells()] == [
        ("natural", 0.0),
        ("enriched", 0.0),
        ("enriched", 0.1),
    ]


def test_a_choice_stays_where_it_is_listed_and_news_goes_everywhere() -> None:
    grids = [
        {"sets": ["a"], "methods": ["mrac"], "anchors": [5, 10]},
        {"sets": ["b"], "methods": ["vanilla"], "anchors": [10]},
    ]
    protocol = Protocol.of({"name": "x", "grid": grids})

    def chosen(**lists: list[Any]) -> set[tuple[str, str, int]]:
        cells = protocol.choose(lists).cells()
        return {(c.condition.set_name, c.method, c.condition.num_anchors) for c in cells}

    assert chosen(sets=["b"]) == {("b", "vanilla", 10)}
    assert chosen(anchors=[5]) == {("a", "mrac", 5)}
    assert chosen(methods=["default", "mrac"], anchors=[10]) == {
        ("a", "mrac", 10), ("a", "default", 10), ("b", "default", 10)
    }  # fmt: skip
    with pytest.raises(ContractError, match="nothing of protocol x is left by --sets b; --anchors 5"):
        protocol.choose({"sets": ["b"], "anchors": [5]})


def test_options_of_a_family_come_from_the_file_and_from_its_name() -> None:
    grid = {"sets": ["a"], "methods": ["mrac"], "families": ["gaussian:sigma_m=0.3"], "fractions": [1]}
    protocol = Protocol.of({"name": "x", "families": {"gaussian": {"floor_m": 0.2, "sigma_m": 0.1}}, "grid": [grid]})
    assert protocol.family_spec("gaussian:sigma_m=0.3") == "gaussian:floor_m=0.2,sigma_m=0.3"
    assert protocol.family_spec("near") == "near"


def test_the_hash_is_of_the_content(make_protocol: Make, tmp_path: Path) -> None:
    assert make_protocol(seeds=[0]).hash == make_protocol().hash != make_protocol(seeds=[1]).hash
    (tmp_path / "p.toml").write_text('# why\nname = "made"\n[[grid]]\nmethods=["mrac"]\nsets = ["a"]')
    (tmp_path / "q.toml").write_text('name="made"\n[[grid]]\nsets = ["a"]\nmethods=["mrac"]\nfractions=[0]')
    assert Protocol.read(str(tmp_path / "p.toml")).hash == Protocol.read(str(tmp_path / "q.toml")).hash


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"grid": [{"sets": ["a"], "methods": ["nope"]}]}, "there is no 'nope'"),
        ({"grid": [{"sets": ["a"], "methods": []}]}, "methods = []; a list of one or more"),
        ({"grid": [{"sets": ["a"]}]}, "methods = (); a list"),
        ({"grid": [{"sets": "a", "methods": ["mrac"]}]}, "sets = 'a'; a list"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "anchors": [1.5]}]}, "whole numbers"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "anchors": [0]}]}, "[[grid]] has anchors = [0]; numbers >= 1"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "fractions": [1.5]}]}, "from 0 to 1"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "seeds": [True]}]}, "whole numbers"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "family": ["near"]}]}, "no such entry 'family'"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "families": ["far"], "fractions": [0.1]}]}, "no 'far'"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "placements": ["here"]}]}, "no 'here'"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "sources": ["lidar"]}]}, "family 'none' with source 'lidar'"),
        ({"grid": [{"sets": ["a"], "methods": ["mrac"], "families": ["natural"]}]}, "with source 'truth'"),
        ({"name": "x"}, "no [[grid]]"),
        ({"grids": []}, "no such entry 'grids'"),
    ],
)
def test_slips_are_named(content: dict[str, Any], says: str) -> None:
    with pytest.raises(ContractError, match=re.escape(says)):
        Protocol.of(content)


def test_a_missing_file_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"no protocol 'papr'; known: .*paper.*quick"):
        Protocol.read("papr")
    (tmp_path / "broken.toml").write_text("name = ")
    with pytest.raises(ContractError, match=r"broken\.toml: not a TOML file"):
        Protocol.read(str(tmp_path / "broken.toml"))


def test_two_spellings_of_a_method_are_one_cell(make_protocol: Make) -> None:
    protocol = make_protocol(methods=["mrac;fit=ols;gate=none", "mrac; gate=none ;fit=ols"])
    assert protocol.cells() == [Cell(Condition(set_name="room"), "mrac;gate=none;fit=ols")]


@pytest.mark.parametrize(
    ("name", "value"),
    [("fractions", 2.0), ("fractions", -0.1), ("fractions", float("nan")), ("seeds", -1), ("anchors", 0)],
)
def test_numbers_that_mean_nothing_are_refused(name: str, value: float) -> None:
    """`--fractions 2` and `--seeds -1` ran to the end, exit code 0, with a failure in every row."""
    chosen = Protocol.read("quick").choose({name: [value]})
    with pytest.raises(ContractError, match=rf"bench: {name[:4]}\w* {value}"):
        chosen.cells()
