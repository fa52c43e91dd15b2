"""The study runs the protocols of the benchmark on any pack, with stages put in, and prints lines."""

from pathlib import Path

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Protocol
from mrac.lab.studies.trust import Choice, failing_lines, measured, sensor_lines, with_stages
from tests.lab.packs import write_pack

STAGES = (("gate", "consensus"), ("foundation", "embedded:mirror=0"))


def test_stages_are_put_in_where_a_method_has_none() -> None:
    assert with_stages("default", STAGES) == "default;foundation=embedded:mirror=0;gate=consensus"
    assert with_stages("default;gate=none", STAGES) == "default;foundation=embedded:mirror=0;gate=none"
    assert with_stages("default;foundation=none", ()) == "default;foundation=none"


def test_an_unknown_set_is_named(tmp_path: Path) -> None:
    choice = Choice(data=write_pack(tmp_path, room=1), limit=1, sets=("attic",))
    with pytest.raises(ContractError, match=r"no set attic in .*, which has room"):
        measured("sensors", choice, 1)


@pytest.mark.lab
def test_a_line_per_placement_and_per_fault(tmp_path: Path) -> None:
    choice = Choice(data=write_pack(tmp_path, room=3), limit=2, stages=(("gate", "consensus"),))
    sensors = list(sensor_lines(measured("sensors", choice, 1)))
    placements = {p for grid in Protocol.read("sensors").grids for p in grid["placements"]}
    assert {line[0] for line in sensors} == placements
    heads = len(sensors[0])
    failing = list(failing_lines(measured("failing", choice, 1)))
    (grid,) = Protocol.read("failing").grids
    assert len(failing) == 2 * len(grid["methods"])
    assert {len(line) for line in failing} == {heads}
    assert any(line[0] == "upside_down, near 25%" for line in failing)
    assert not any("failed" in line[-2] for line in (*sensors, *failing))
