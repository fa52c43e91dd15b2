from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrac import ContractError
from mrac.frames import list_images
from mrac.frames.images import natural_order


def made(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


def test_a_folder_a_pattern_and_names(tmp_path: Path) -> None:
    folder = made(tmp_path / "f", "a10.png", "a2.PNG", "a1.jpg", "notes.txt", ".hidden.png")
    (folder / "below").mkdir()
    made(folder / "below", "a3.png")
    assert [path.name for path in list_images([folder])] == ["a1.jpg", "a2.PNG", "a10.png"]
    assert [path.name for path in list_images([folder / "a*.[pP]*"])] == ["a2.PNG", "a10.png"]
    assert [path.name for path in list_images([folder / "**" / "*.png"])] == ["a10.png", "a3.png"]
    assert list_images([folder / "a10.png", folder / "a1.jpg"]) == [folder / "a10.png", folder / "a1.jpg"]
    assert len(list_images([folder, folder / "a1.jpg"])) == 3, "one file is one frame"


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    folder = made(tmp_path / "f", "a[1].png", "a1.png")
    assert list_images([folder / "a[1].png"]) == [folder / "a[1].png"]


def test_nothing_and_twice_are_named(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"no image in .*\(notes\.txt\); files that end in"):
        list_images([made(tmp_path / "f", "notes.txt")])
    with pytest.raises(ContractError, match="no image in"):
        list_images([tmp_path / "*.png"])
    with pytest.raises(ContractError, match=r"a\.jpg and .*a\.png have the same stem"):
        list_images([made(tmp_path / "g", "a.png", "a.jpg")])


@given(st.lists(st.integers(0, 10**6), unique=True, min_size=1))
def test_numbers_in_names_are_in_the_order_of_numbers(numbers: list[int]) -> None:
    paths = sorted((Path(f"frame_{n}.png") for n in numbers), key=natural_order)
    assert [path.name for path in paths] == [f"frame_{n}.png" for n in sorted(numbers)]
