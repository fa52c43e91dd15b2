from pathlib import Path

from mrac.batch_jobs.folders import frames_in
from tests.mrac.batch_jobs.frames import write_frame


def touched(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_files_of_one_stem_are_a_frame(tmp_path: Path) -> None:
    touched(
        tmp_path, "a.jpg", "a.csv", "b.png", "b.npz", "c.jpg", "c.png", "sub/a.jpg", "sub/a.ply", "README.md", ".x.jpg"
    )
    found = {frame.id: (Path(frame.image).name, Path(frame.anchors).name) for frame in frames_in(tmp_path)}
    assert found == {
        "a": ("a.jpg", "a.csv"),
        "b": ("b.png", "b.npz"),
        "c": ("c.jpg", "c.png"),  # beside a photograph, the PNG is sparse depth
        "sub/a": ("a.jpg", "a.ply"),
    }


def test_what_has_no_partner_or_two_is_a_fault(tmp_path: Path) -> None:
    touched(tmp_path, "a.jpg", "b.csv", "c.jpg", "c.csv", "c.npz", "d.jpg", "d.md")
    faults = {frame.id: frame.fault for frame in frames_in(tmp_path)}
    assert set(faults) == {"a", "b", "c", "d"}
    assert "no readings of the same stem" in faults["a"]
    assert "no image of the same stem" in faults["b"]
    assert "c.csv, c.npz arrived" in faults["c"]
    assert "no readings" in faults["d"]


def test_readings_may_be_in_a_folder_of_their_own_and_of_a_named_kind(tmp_path: Path) -> None:
    images = touched(tmp_path / "images", "a.png", "b.png", "s/c.jpg")
    readings = touched(tmp_path / "readings", "a.png", "s/c.json")
    found = {frame.id: frame for frame in frames_in(images, readings, "zones")}
    assert Path(found["a"].anchors) == readings / "a.png"
    assert Path(found["s/c"].anchors) == readings / "s" / "c.json"
    assert "no readings" in found["b"].fault
    assert "no readings" in {frame.id: frame.fault for frame in frames_in(images, readings)}["s/c"]


def test_the_order_is_that_of_the_names(tmp_path: Path) -> None:
    for stem in ("b", "a", "c"):
        write_frame(tmp_path, stem)
    assert [frame.id for frame in frames_in(tmp_path)] == ["a", "b", "c"]
