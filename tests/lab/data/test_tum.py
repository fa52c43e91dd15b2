from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import ContractError
from mrac.lab.data.tum import Tum, associate
from tests.lab.layouts import tum

TIMES = st.lists(st.integers(0, 200).map(lambda n: n / 1000), unique=True, max_size=12)


@settings(deadline=None)
@given(first=TIMES, second=TIMES)
def test_pairs_as_the_benchmark_s_tool_does(first: list[float], second: list[float]) -> None:
    every = sorted((abs(a - b), a, b) for a in first for b in second if abs(a - b) < 0.02)
    expected = []
    while every:
        _, a, b = every[0]
        expected.append((first.index(a), second.index(b)))
        every = [pair for pair in every if pair[1] != a and pair[2] != b]
    assert associate(first, second, 0.02) == sorted(expected, key=lambda pair: first[pair[0]])


def test_one_sequence_or_a_folder_of_them(tmp_path: Path) -> None:
    written = tum.write(tmp_path)
    one = Tum(tmp_path / tum.SEQUENCE)
    assert [s.id for s in one] == [s.id for s in Tum(tmp_path)] == list(written)
    assert {s.scene for s in one} == {"freiburg1_desk"}
    assert len(Tum(tmp_path, max_difference_s=0.05)) == 3
    assert [s.id for s in Tum(tmp_path, stride=2)] == list(written)[:1]


def test_lists_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    tum.write(tmp_path)
    rgb, depth = tmp_path / tum.SEQUENCE / "rgb.txt", tmp_path / tum.SEQUENCE / "depth.txt"
    rgb.write_text("# times\nnoon rgb/1.png\n")
    with pytest.raises(ContractError, match=r"rgb\.txt: line 2 is 'noon rgb/1\.png'"):
        len(Tum(tmp_path))
    rgb.write_bytes(b"\xff\xfe1305031452.79 rgb/1.png")
    with pytest.raises(ContractError, match=r"rgb\.txt: a list of frames, one per line, is needed"):
        len(Tum(tmp_path))
    depth.unlink()
    with pytest.raises(ContractError, match=r"no rgbd_dataset_freiburg1_desk/depth\.txt in"):
        len(Tum(tmp_path))
    with pytest.raises(ContractError, match="stride"):
        Tum(tmp_path, stride=0)
