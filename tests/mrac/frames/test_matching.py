from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.frames import FrameFiles, FrameTable, match
from tests.mrac.frames.test_images import made


def test_files_match_by_stem_and_by_number(tmp_path: Path) -> None:
    files = match(made(tmp_path / "r", "a.csv", "0012.csv", "7.csv"), "--anchors")
    assert isinstance(files, FrameFiles)
    assert files.of("a") == tmp_path / "r" / "a.csv"
    assert files.of("000012") == tmp_path / "r" / "0012.csv"
    assert files.of("007") == tmp_path / "r" / "7.csv"
    assert files.of("b") is None
    assert len(files) == 3


def test_the_exact_stem_comes_before_the_number(tmp_path: Path) -> None:
    files = match(made(tmp_path / "r", "7.csv", "007.csv"), "--anchors")
    assert isinstance(files, FrameFiles)
    assert [files.of(stem) for stem in ("7", "007")] == [tmp_path / "r" / "7.csv", tmp_path / "r" / "007.csv"]


def test_what_does_not_match_is_listed(tmp_path: Path) -> None:
    files = match(made(tmp_path / "r", "a.csv", "x.csv"), "--anchors")
    assert files is not None
    files.check_all(["a"])
    with pytest.raises(ContractError, match=r"2 of 3 frames have no file .*: b, c, and no image for x\.csv"):
        files.check_all(["a", "b", "c"])
    with pytest.raises(ContractError, match=r"0, 1, 2, 3, 4 and 3 more"):
        files.check_all([str(i) for i in range(8)])


def test_images_in_the_same_folder_are_not_readings(tmp_path: Path) -> None:
    folder = made(tmp_path / "f", "a.png", "a.csv")
    with pytest.raises(ContractError, match=r"a\.csv and a\.png have the same stem; .*'.*/\*\.png'"):
        match(folder, "--anchors")
    files = match(folder, "--anchors", {folder / "a.png"})
    assert isinstance(files, FrameFiles)
    assert files.of("a") == folder / "a.csv"
    with pytest.raises(ContractError, match=r"--pose .*no files in it"):
        match(folder / "*.txt", "--pose")


def test_one_file_and_a_model_serve_all_frames(tmp_path: Path) -> None:
    folder = made(tmp_path, "a.csv", "cameras.bin", "images.bin", "points3D.bin")
    (folder / "a.csv").write_text("u,v,z\n1,2,3\n")
    assert match(folder / "a.csv", "--anchors", tables=True) is None
    assert match(folder, "--anchors") is None


def test_a_table_is_divided_by_its_column_frame(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("# made by hand\nu;v;z;Frame\n1;2;3;0\n\n1;2;4;12\n5;2;3;0\n0;0;1;door\n")
    np.savez(tmp_path / "a.npz", uv_px=np.zeros((4, 2)), z_m=np.ones(4), frame=np.array(["0", "12.0", "00", "door"]))
    for name in ("a.csv", "a.npz"):
        table = match(tmp_path / name, "--anchors", tables=True)
        assert isinstance(table, FrameTable)
        rows = {stem: table.of(stem) for stem in ("000000", "000012", "door", "1")}
        shown = {stem: None if r is None else r.tolist() for stem, r in rows.items()}
        assert shown == {"000000": [0, 2], "000012": [1], "door": [3], "1": None}
        with pytest.raises(ContractError, match=r"1 of 2 images have no row: 13; .* it has 0, 12, door"):
            table.check_all(["12", "13"])
        assert match(tmp_path / name, "--anchors") is None, "another kind of source is not divided"
