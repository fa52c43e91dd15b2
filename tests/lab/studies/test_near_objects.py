"""The study of near objects: scenes that are nobody's training data, and a row for each share and gate."""

import json
from pathlib import Path

import numpy as np
import pytest

from mrac.lab.studies import near_objects
from tests.lab.train import tiny


def test_a_row_for_each_share_and_gate_of_scenes_with_exact_depth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_objects, "_SIZE", (96, 128))
    monkeypatch.setattr(near_objects, "_AT_ONCE", 2)
    pack = tiny.write_pack(tmp_path / "pack")
    drawn = list(near_objects.scenes(3, near_objects.photographs(pack), 5))
    again = list(near_objects.scenes(3, near_objects.photographs(pack), 5))
    for (image, truth_m), (same, _) in zip(drawn, again, strict=True):
        assert image.shape == (96, 128, 3)
        assert truth_m.max() < 60.0
        np.testing.assert_array_equal(image, same)
    assert len({truth_m.tobytes() for _, truth_m in drawn}) == 3

    near_objects.main(["--photographs", str(pack), "--scenes", "3", "--seed", "5", "--out", str(tmp_path / "out")])
    found = json.loads((tmp_path / "out" / "near_objects.json").read_text())
    assert len(found["rows"]) == len(near_objects.SHARES) * len(near_objects.GATES)
    no_gate = [row for row in found["rows"] if row["gate"] == "no gate"]
    assert [row["right_kept"] for row in no_gate] == [1.0] * 3
    assert [row["wrong_kept"] for row in no_gate] == [0.0, 1.0, 1.0]
    assert no_gate[0]["abs_rel"] < no_gate[2]["abs_rel"]
