import json
from pathlib import Path

import pytest
from benchmarks.protocol import summary, write_results


def test_one_image_has_a_mean_and_no_spread(tmp_path: Path) -> None:
    write_results(tmp_path / "run.json", sets={"nyu": summary([0.25])})
    assert json.loads((tmp_path / "run.json").read_text())["sets"]["nyu"] == {"abs_rel": 0.25, "images": 1}


def test_the_spread_is_of_the_mean() -> None:
    assert summary([0.1, 0.3])["standard_error"] == pytest.approx(0.1)
