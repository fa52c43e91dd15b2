"""Files that hold no camera at all."""

from pathlib import Path

import pytest

from mrac.camera import read_camera
from mrac.errors import ContractError


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"hello\nworld\n", r"a.txt is of no known format; KITTI's calib.txt, ROS's"),
        ("a.txt", b"", r"a.txt is of no known format"),
        ("a.json", b'{"fx": ', r"a.json: not readable as JSON"),
        ("a.txt", b"\xff\x00\x01\xfe", r"a.txt: cannot be read as text"),
    ],
)
def test_an_unknown_file_says_what_is_known(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ContractError, match=message):
        read_camera(path)


@pytest.mark.parametrize("name", ["none.json", "none.bin", "none.txt", "none.yaml"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ContractError, match=f"{name}: (no such file|cannot be read: No such file)"):
        read_camera(tmp_path / name)


def test_a_folder_without_cameras(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"is a folder without cameras\.bin or cameras\.txt"):
        read_camera(tmp_path)


def test_the_content_counts_more_than_the_suffix(tmp_path: Path) -> None:
    path = tmp_path / "camera.txt"
    path.write_text('\ufeff {"fx": 5, "fy": 5, "cx": 1, "cy": 1, "width": 3, "height": 3}', encoding="utf-8")
    assert read_camera(str(path)).fx_px == 5
