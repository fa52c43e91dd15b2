import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.lab.bench.report.results import CellKey, Results, joined
from tests.lab.bench.report.made import cell, columns

CLEAN = CellKey(set="nyu", method="vanilla")


def test_mean_over_images_then_over_seeds_with_the_paper_s_deviation() -> None:
    # The paper's own three seeds of KITTI dropout 40 %, which it prints as 0.324 ± 0.036.
    rows = [row for seed, value in enumerate((0.314, 0.294, 0.363)) for row in cell("vanilla", [value] * 3, seed=seed)]
    mean = Results(columns(rows)).mean("abs_rel", CLEAN)
    assert mean.value == pytest.approx(0.3237, abs=1e-4)
    assert mean.spread == pytest.approx(0.0355, abs=1e-4)
    assert (mean.num_images, mean.num_failed) == (9, 0)
    assert Results(columns(rows)).mean("abs_rel", CLEAN, [2]).value == pytest.approx(0.363)
    assert Results(columns(rows)).mean("abs_rel", CLEAN, [2]).spread is None


def test_a_failed_image_is_counted_and_not_averaged() -> None:
    results = Results(columns(cell("vanilla", [0.1, None, 0.3])))
    mean = results.mean("abs_rel", CLEAN)
    assert mean.value == pytest.approx(0.2)
    assert (mean.num_images, mean.num_failed) == (3, 1)
    assert np.isnan(results.per_image("abs_rel", CLEAN)["0001"])


def test_a_cell_of_failures_alone_has_no_value() -> None:
    mean = Results(columns(cell("vanilla", [None, None]))).mean("abs_rel", CLEAN)
    assert mean.value is None
    assert mean.num_failed == 2


def test_clean_readings_serve_every_family() -> None:
    results = Results(columns(cell("vanilla", [0.1])))
    for family in ("near", "dropout"):
        assert results.mean("abs_rel", CellKey(set="nyu", method="vanilla", family=family)).value == pytest.approx(0.1)
    assert not results.has(CellKey(set="nyu", method="vanilla", family="near", fraction=0.1))
    # Real readings at a fraction of 0 are not clean ones: both families of them are kept apart.
    enriched = CellKey(set="nyu", method="vanilla", family="enriched", source="lidar")
    assert enriched.stored == enriched
    assert not results.has(enriched)


def test_a_column_that_no_row_has_is_of_numbers() -> None:
    results = Results(columns(cell("vanilla", [0.1, 0.2])))
    assert results.mean("gate_recall", CLEAN).value is None


def test_rows_are_matched_by_image_not_by_order() -> None:
    there = cell("vanilla", [0.1, 0.2, 0.3])
    values = Results(columns([*reversed(there), *cell("mrac", [1.0, 2.0])])).matrix(
        "abs_rel", [CLEAN, CellKey(set="nyu", method="mrac")]
    )
    np.testing.assert_allclose(values, [[0.1, 0.2, 0.3], [1.0, 2.0, np.nan]])


def test_an_image_that_comes_twice_is_an_error() -> None:
    with pytest.raises(ContractError, match="twice"):
        Results(columns([*cell("vanilla", [0.1]), *cell("vanilla", [0.2])]))


def test_a_run_without_a_column_of_the_key_is_an_error() -> None:
    with pytest.raises(ContractError, match="no column 'placement'"):
        Results({name: values for name, values in columns(cell("vanilla", [0.1])).items() if name != "placement"})


def test_no_rows_at_all() -> None:
    results = Results(columns([]))
    assert results.cells == frozenset()
    assert results.mean("abs_rel", CLEAN).value is None


def test_joining_takes_a_cell_from_the_first_run_that_has_it() -> None:
    first, second = cell("vanilla", [0.1, 0.2]), [*cell("vanilla", [9.0, 9.0]), *cell("vanilla", [0.5], seed=1)]
    together, left_out = joined([columns(first), columns(second)])
    assert left_out == 2
    results = Results(together)
    assert results.mean("abs_rel", CLEAN, [0]).value == pytest.approx(0.15)
    assert results.seeds(CLEAN) == [0, 1]


def test_joining_runs_with_other_columns() -> None:
    first, second = columns(cell("vanilla", [0.1])), columns(cell("mrac", [0.1], extra=3.0))
    together, _ = joined([first, second])
    assert together["extra"] == [None, 3.0]
