"""The study of many frames, with few: what is reported of stream, service and recording."""

import json
from pathlib import Path

import numpy as np

from mrac.lab.studies import soak


def test_a_leak_would_show_in_every_third() -> None:
    rows = [(i, 100.0 + 0.5 * i, 9, 4) for i in range(90)]
    assert [soak.slope(part) for part in np.array_split(np.array(rows), 3)] == [500.0, 500.0, 500.0]


def test_a_short_run(tmp_path: Path) -> None:
    soak.main(["--frames", "12", "--requests", "12", "--bag-frames", "12", "--out", str(tmp_path)])
    for subject in ("stream", "service", "recording"):
        found = json.loads((tmp_path / f"{subject}.json").read_text())[subject]
        assert found["frames"] == 12
        assert len(found["rss_mib_per_1000_frames_by_third"]) == 3
        assert min(found["files_max_by_third"]) > 0
