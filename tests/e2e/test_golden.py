"""Figures on scenes that ship: a change that moves one has to say why."""

import json
import sys
from pathlib import Path

import pytest

SCENES = ("room", "street", "motorcycle", "made")


@pytest.mark.parametrize("scene", SCENES)
def test_the_figures_are_the_stored_ones(scene: str) -> None:
    from mrac.lab.studies import golden  # noqa: PLC0415  (this study needs nothing of the laboratory's packages)

    stored = golden.read()
    changed = [line for row in golden.measure((scene,)) for line in golden.differences(stored[row.name], row)]
    assert not changed, 'if that is right: python -m mrac.lab.studies.golden --update --why "..."'


def test_all_of_it_is_stored_with_a_reason() -> None:
    from mrac.lab.studies import golden  # noqa: PLC0415

    content = json.loads(golden.GOLDEN.read_bytes())
    assert all(len(change["why"]) >= 12 and change["date"] for change in content["changes"])
    assert golden.SCENES == SCENES
    names = [
        f"{scene}, {method}, {family}" for scene in SCENES for method in golden.METHODS for family in golden.FAMILIES
    ]
    assert list(golden.read()) == names


def test_what_matters_is_noticed_and_the_last_digits_are_not() -> None:
    from mrac.lab.studies import golden  # noqa: PLC0415

    row = golden.read()["room, default, near"]
    assert not golden.differences(row, row._replace(abs_rel=row.abs_rel * 1.015, coverage=row.coverage - 0.01))
    assert not golden.differences(row, row._replace(rejected=row.rejected[:-1]))
    (error,) = golden.differences(row, row._replace(abs_rel=row.abs_rel * 1.03))
    (better,) = golden.differences(row, row._replace(abs_rel=row.abs_rel * 0.97))  # a gain is a change as well
    (inside,) = golden.differences(row, row._replace(coverage=row.coverage - 0.03))
    (verdicts,) = golden.differences(row, row._replace(rejected=row.rejected[:-2], f1=0.5))
    assert "room, default, near: AbsRel" in error
    assert "AbsRel" in better
    assert "coverage" in inside
    assert "verdicts" in verdicts
    assert "0.500" in verdicts


@pytest.mark.parametrize("words", [[], ["--why", ""], ["--why", "changed"]])
def test_without_a_reason_nothing_is_written(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mrac.lab.studies import golden  # noqa: PLC0415

    before = golden.GOLDEN.read_bytes()
    monkeypatch.setattr(sys, "argv", ["golden", "--update", *words])
    with pytest.raises(SystemExit, match="2"):
        golden.main()
    assert "--update needs --why" in capsys.readouterr().err
    assert golden.GOLDEN.read_bytes() == before


def test_reasons_are_kept(tmp_path: Path) -> None:
    from mrac.lab.studies import golden  # noqa: PLC0415

    path, rows = tmp_path / "golden.json", list(golden.read().values())
    golden.write(rows, "the first reason", path)
    golden.write(rows, "the second reason", path)
    assert [one["why"] for one in json.loads(path.read_bytes())["changes"]] == ["the second reason", "the first reason"]
    assert golden.read(path) == golden.read()
