import json
from pathlib import Path

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError, MetricDepth
from mrac.result.folder import RESULT_FILES, write_result

ANCHORS = Anchors([[1.0, 1.0], [np.nan, 2.0], [5.0, 5.0], [6.0, 2.0]], [1.0, 2.0, 3.0, 2.0])


@pytest.fixture(scope="module")
def result() -> MetricDepth:
    return Calibrator(foundation="none", gate="none")(np.zeros((8, 9, 3), np.uint8), ANCHORS)


def test_every_verdict_is_in_the_report(tmp_path: Path, result: MetricDepth) -> None:
    write_result(tmp_path, result, ANCHORS, {})
    said = json.loads((tmp_path / "report.json").read_text())["anchors"]
    assert said[1] == {
        "keep": False, "score": 1e6, "outlier_probability": 1.0, "weight": 0.0, "reason": "not_finite",
        "u": "nan", "v": 2.0, "z_m": 2.0,
    }  # fmt: skip
    assert [anchor["outlier_probability"] for anchor in said] == [0.0, 1.0, 0.0, 0.0]


def test_probabilities_are_written_where_they_are_asked_for(tmp_path: Path, result: MetricDepth) -> None:
    write_result(tmp_path, result, ANCHORS, {}, [1.5, 2.5])
    with np.load(tmp_path / "nearer.npz") as nearer:
        np.testing.assert_array_equal(nearer["d_m"], [1.5, 2.5])
        assert nearer["probability"].dtype == np.float32
        np.testing.assert_array_equal(nearer["probability"][1], result.probability_nearer(2.5))
        assert (nearer["probability"][0] <= nearer["probability"][1]).all()
    assert "nearer.npz" in json.loads((tmp_path / "report.json").read_text())["files"]
    assert {path.name for path in tmp_path.iterdir()} == set(RESULT_FILES)


def test_those_of_an_older_result_do_not_stay(tmp_path: Path, result: MetricDepth) -> None:
    write_result(tmp_path, result, ANCHORS, {}, [1.5])
    write_result(tmp_path, result, ANCHORS, {})
    assert {path.name for path in tmp_path.iterdir()} == set(RESULT_FILES) - {"nearer.npz"}
    assert "nearer.npz" not in json.loads((tmp_path / "report.json").read_text())["files"]


def test_a_refused_distance_leaves_the_folder_as_it_was(tmp_path: Path, result: MetricDepth) -> None:
    write_result(tmp_path, result, ANCHORS, {}, [1.5])
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ContractError, match="probability_nearer"):
        write_result(tmp_path, result, ANCHORS, {}, [1.5, -1.0])
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
