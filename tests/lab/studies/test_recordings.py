"""The study of `mrac bag` on a short recording: killed once while it works and once while it joins."""

import json
import sys
from pathlib import Path

import pytest

from mrac.lab.studies import recordings


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_short_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ["study", "--frames", "12", "--kills", "1", "--method", "cfa_ols", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    recordings.main()
    found = json.loads((tmp_path / "recordings.json").read_text())
    assert found["equal_to_the_byte"]
    assert found["killed"]["each_frame_once"]
    assert found["killed"]["frames_of_the_last_run"] == found["alone"]["frames"] == 12
    assert set(found["messages"].values()) == {12}
