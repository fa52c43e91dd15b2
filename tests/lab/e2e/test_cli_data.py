"""Data sets as a person meets them on the command line."""

from pathlib import Path

from tests.e2e.test_cli import mrac
from tests.lab.layouts import diode, manifest


def test_check_counts_every_set(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    done = mrac("data", "check", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[:3] for line in lines[1:]] == [["street", "2", "32×24"], ["nyu", "1", "640×480"]]
    assert all(line[-1] == "ok" for line in lines[1:])
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_check_of_half_a_data_set_is_one_line_and_code_2(tmp_path: Path) -> None:
    diode.write(tmp_path)
    done = mrac("data", "check", tmp_path, "--dataset", "diode", "--all")
    assert done.returncode == 2
    assert "2 of 325" in done.stdout
    assert done.stderr.strip() == (
        "mrac: data check: diode_indoors has 2 frames, the official set 325; diode_outdoor has 1 frames, "
        "the official set 446"
    )


def test_no_data_is_one_line_that_says_where_to_get_it(tmp_path: Path) -> None:
    for words, says in (
        (["check", str(tmp_path)], "`mrac data list` shows where to get them"),
        (["check", str(tmp_path), "--dataset", "tum"], "get it from https://cvg.cit.tum.de"),
        (["check", str(tmp_path), "--dataset", "nope"], "known: diode, kitti"),
        (["check", str(tmp_path / "nowhere")], "nowhere is no folder"),
        (["check"], "FOLDER"),
    ):
        done = mrac("data", *words)
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_list_says_where_to_get_each_and_how_to_lay_it_out() -> None:
    done = mrac("data", "list")
    assert done.returncode == 0
    together = "".join(done.stdout.split())
    for says in ("https://rgbd.cs.princeton.edu", "nyu_depth_v2_labeled.mat", "val/{indoors,outdoor}/scene_*/scan_*/"):
        assert says in together
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_help_has_examples() -> None:
    for words in (["data", "-h"], ["data", "list", "-h"], ["data", "check", "-h"]):
        done = mrac(*words)
        assert done.returncode == 0
        assert "\n    mrac data" in done.stdout.partition("Example")[2]
