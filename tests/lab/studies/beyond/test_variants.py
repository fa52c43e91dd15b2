"""Our method with other numbers and other stages."""

import pytest

from mrac.lab.studies.beyond.pairs import OURS
from mrac.lab.studies.beyond.variants import ablation, leave_one_out, one_for_all
from tests.lab.studies.beyond.made import NARROW, WIDE, grid, results


def test_the_ablation_tells_what_an_exchange_costs() -> None:
    gate = f"{OURS};gate=none"
    rows = [*grid(OURS, 0.1), *grid(gate, lambda c: 0.3 if c.fraction else 0.09), *grid(WIDE, 0.1, images="ab")]
    rows += grid(f"{OURS};gate=consensus", 0.1)  # our own stage under its name is no exchange
    section = ablation(results(rows))
    assert section.checks[0].outcome is not None
    assert section.checks[0].outcome.here == f"`{gate}` 200.0 % [200.0, 200.0]"
    changes = {one.label: one.entries for one in section.tables[1].rows}
    assert [entry.value for entry in changes[gate][:2]] == pytest.approx([-10.0, 200.0])
    assert f"`{WIDE}` 2 images of each set, 52 of 52 conditions" in section.notes[0]
    assert gate not in section.notes[0]


def test_three_sets_choose_for_the_fourth() -> None:
    """One variant gains on KITTI-15 alone: tuning there would buy much, and the others would never choose it."""
    rows = [*grid(OURS, 0.1), *grid(NARROW, lambda c: 0.07 if c.set == "kitti15" else 0.12)]
    found = {one.set_name: one for one in leave_one_out(results(rows), [NARROW])}
    assert all(one.holds for one in found.values())
    assert found["kitti15"].chosen == OURS
    assert found["kitti15"].own == NARROW
    assert found["kitti15"].own_gap is not None
    assert found["kitti15"].own_gap.value == pytest.approx(0.1 / 0.07 - 1.0)


def test_a_better_variant_everywhere_is_told() -> None:
    rows = [*grid(OURS, 0.1), *grid(NARROW, 0.095), *grid(WIDE, 0.0995)]
    section = one_for_all(results(rows))
    assert section.checks[0].verdict == "does not hold"
    within = one_for_all(results(one for one in rows if one["method"] != NARROW))
    assert within.checks[0].verdict == "holds"  # half a percent
    assert within.tables[0].rows[0].entries[0].text == "head=kriging:relative_length=1.6"
