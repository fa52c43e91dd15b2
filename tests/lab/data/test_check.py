from pathlib import Path

from mrac.lab.data._check import check_set
from mrac.lab.data.diode import Diode
from mrac.lab.data.manifest import Manifest
from tests.lab.layouts import diode, manifest


def test_counts_shares_and_depths(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    found = check_set(Manifest(tmp_path, "street"))
    assert (found.name, found.num_frames, found.size, found.problem) == ("street", 2, "32×24", "")
    assert 0.7 < found.scored < found.with_truth < 0.9
    least, median, largest = found.depth_m
    assert 0.5 <= least < median < largest < 80


def test_fewer_frames_than_the_official_set_is_a_problem(tmp_path: Path) -> None:
    diode.write(tmp_path)
    found = check_set(Diode(tmp_path, "indoors"))
    assert found.problem == "diode_indoors has 2 frames, the official set 325"
    assert found.row()[1] == "2 of 325"
    assert found.row()[-1] == "see below"


def test_a_file_that_is_gone_is_found_without_decoding_all(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    (tmp_path / "street" / "1.npz").unlink()
    found = check_set(Manifest(tmp_path, "street"))
    assert (found.num_frames, found.size) == (2, "")
    assert "no street/1.npz in" in found.problem


def test_a_layout_that_is_not_there_has_no_frames(tmp_path: Path) -> None:
    found = check_set(Diode(tmp_path))
    assert found.num_frames == 0
    assert "no val/indoors" in found.problem


def test_all_frames_are_decoded_only_on_request(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    lines = (tmp_path / "manifest.csv").read_text().splitlines()
    more = [lines[1].replace("street,000", f"street,9{i}") for i in range(4)]
    (tmp_path / "bad.png").write_bytes(b"no picture")
    more[2] = more[2].replace("street/0.png", "bad.png")
    (tmp_path / "manifest.csv").write_text("\n".join([lines[0], *more]) + "\n")
    assert check_set(Manifest(tmp_path, "street")).problem != ""
    more = [more[0], more[2], more[1], more[3]]  # the middle one is whole again
    (tmp_path / "manifest.csv").write_text("\n".join([lines[0], *more]) + "\n")
    assert check_set(Manifest(tmp_path, "street")).problem == ""
    assert "not a readable image" in check_set(Manifest(tmp_path, "street"), every=True).problem
