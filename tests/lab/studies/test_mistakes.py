from pathlib import Path

import pytest

from mrac.lab.studies import mistakes
from tests.lab.packs import write_pack


def test_the_study_prints_and_writes_every_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = write_pack(tmp_path / "pack", tum=2)
    monkeypatch.setenv("MRAC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.argv", ["mistakes", "--data", str(pack), "--draws", "3", "--out", str(tmp_path / "out")])
    mistakes.main()
    printed = capsys.readouterr().out
    assert all(label in printed for label in mistakes.MISTAKES)
    assert (tmp_path / "out" / "seed0.json").is_file()
    assert '"draws": 3' in (tmp_path / "out" / "seed0.json").read_text()
