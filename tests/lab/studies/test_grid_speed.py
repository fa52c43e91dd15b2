"""The time of the grid: of all its cells, and none of them a failure."""

import json
from pathlib import Path

import pytest

from mrac.lab.bench.protocol import Protocol
from mrac.lab.studies.grid_speed import METHODS, main, num_cells
from tests.lab.packs import write_pack


def test_the_paper_s_grid_has_320_cells() -> None:
    assert num_cells(Protocol.read("paper"), len(METHODS)) == 320


def test_a_run_is_timed_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    grid = 'sets = ["room"]\nmethods = ["vanilla"]\nfamilies = ["near", "dropout"]\nfractions = [0, 0.2]'
    (tmp_path / "small.toml").write_text(f'name = "small"\n[[grid]]\n{grid}\n')
    pack = write_pack(tmp_path / "pack", room=2)
    words = ["--data", str(pack), "--protocol", str(tmp_path / "small.toml"), "--workers", "1", "--methods"]
    main([*words, "cfa_ols;foundation=none", "default;foundation=none"])
    found = json.loads(capfd.readouterr().out.strip().splitlines()[-1])
    assert (found["cells"], found["cells_computed"], found["images"], found["rows"]) == (8, 6, 2, 12)
    assert found["images_per_second"] == pytest.approx(12 / found["seconds"], rel=0.02, abs=0.06)  # printed to a tenth
    with pytest.raises(SystemExit, match="6 failures, which cost nothing"):
        main([*words, "cfa_ols;foundation=precomputed:nowhere.npz"])
