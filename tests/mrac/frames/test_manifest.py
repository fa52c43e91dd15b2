import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import ContractError
from mrac.frames import Manifest
from mrac.frames.manifest import inputs_digest

OPTIONS = {"gate": "none", "fov": (45.0, 30.0)}


def test_what_was_added_is_finished_for_the_next_run(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"")
    with Manifest(tmp_path, OPTIONS) as first:
        assert first.finished("a", "1", [tmp_path / "a.npz"]) is None
        first.add({"frame": "a", "inputs": "1", "status": "ok"})
        first.add({"frame": "b", "inputs": "1", "status": "ok"})
    with Manifest(tmp_path, OPTIONS) as second:
        assert second.finished("a", "1", [tmp_path / "a.npz"]) == {"frame": "a", "inputs": "1", "status": "ok"}
        assert second.finished("a", "2", [tmp_path / "a.npz"]) is None, "its inputs changed"
        assert second.finished("b", "1", [tmp_path / "b.npz"]) is None, "its result was deleted"
    assert Manifest(tmp_path, OPTIONS, restart=True).finished("a", "1", []) is None


@settings(max_examples=15, deadline=None)  # each makes two files, and waits for the disk
@given(cut=st.integers(0, 200), rubbish=st.binary(max_size=20))
def test_a_line_that_a_kill_or_a_power_cut_left_in_part_is_not_finished(
    tmp_path_factory: pytest.TempPathFactory, cut: int, rubbish: bytes
) -> None:
    folder = tmp_path_factory.mktemp("m")
    with Manifest(folder, OPTIONS) as manifest:
        for name in "abc":
            manifest.add({"frame": name, "inputs": "1"})
    path = folder / "manifest.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - cut)] + rubbish.replace(b"\n", b" "))
    with Manifest(folder, OPTIONS) as again:
        kept = [name for name in "abc" if again.finished(name, "1", [])]
        again.add({"frame": "d", "inputs": "1"})
    assert kept == list("abc"[: len(kept)])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("frame") for line in lines] == [None, *kept, "d"], "the next line is not glued to the broken one"


def test_other_options_are_named(tmp_path: Path) -> None:
    with Manifest(tmp_path, OPTIONS):
        pass
    with pytest.raises(ContractError, match=r"other options \(gate was 'none', now 'ransac'\).*--restart"):
        Manifest(tmp_path, {**OPTIONS, "gate": "ransac"})
    Manifest(tmp_path, {**OPTIONS, "gate": "ransac"}, restart=True)


def test_a_part_becomes_the_result_and_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    with Manifest(tmp_path, OPTIONS) as manifest:
        part = manifest.part("a")
        (part / "depth.npz").write_bytes(b"new")
        assert not (tmp_path / "a").exists()
        manifest.commit(part, "a")
        part = manifest.part("b")
        (part / "b.npz").write_bytes(b"new")
        manifest.commit(part, "b", ["b.npz"])
        (manifest.part("c") / "depth.npz").write_bytes(b"half")
    with Manifest(tmp_path, OPTIONS):
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b.npz", "manifest.jsonl"]
        assert (tmp_path / "a" / "depth.npz").read_bytes() == b"new"


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.tex").write_text("years")
    with Manifest(tmp_path, OPTIONS) as manifest, pytest.raises(ContractError, match=r"holds thesis\.tex, which is no"):
        manifest.commit(manifest.part("a"), "a")
    assert (tmp_path / "a" / "thesis.tex").read_text() == "years"


def test_the_digest_follows_size_and_time_of_any_file(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_text("a")
    two.write_text("b")
    before = inputs_digest([one, None, two])
    assert before == inputs_digest([one, None, two])
    os.utime(two, ns=(0, 1))
    changed = inputs_digest([one, None, two])
    two.write_text("bb")
    assert len({before, changed, inputs_digest([one, two]), inputs_digest([one])}) == 4
