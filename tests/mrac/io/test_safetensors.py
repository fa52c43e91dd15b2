"""Arrays come back as they were written; whatever else a file holds is one clear error."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import ContractError
from mrac.io.safetensors import read_safetensors
from tests.safetensors_file import write_safetensors

ARRAYS: dict[str, Any] = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b.c": np.array([True, False, True]),
    "half": np.ones((1, 2, 2), np.float16),
    "none": np.zeros((0, 4), np.float64),
    "one": np.array(7, np.int64),
}


def write_header(path: Path, header: object, data: bytes = b"") -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_arrays_come_back(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "a.safetensors", ARRAYS, {"format": "pt"})
    found = read_safetensors(tmp_path / "a.safetensors")
    assert list(found) == list(ARRAYS)
    for name, values in ARRAYS.items():
        assert found[name].dtype == values.dtype
        assert found[name].flags.aligned  # `half` begins at an odd byte, and `one` at none of eight
        np.testing.assert_array_equal(found[name], values)


@pytest.mark.lab
def test_equals_the_format_s_own_library(tmp_path: Path) -> None:
    from safetensors.numpy import save_file  # noqa: PLC0415

    save_file(ARRAYS, tmp_path / "a.safetensors", {"about": "this"})
    found = read_safetensors(tmp_path / "a.safetensors")
    assert set(found) == set(ARRAYS)
    for name, values in ARRAYS.items():
        np.testing.assert_array_equal(found[name], values)


def entry(**changed: object) -> dict[str, Any]:
    return {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changed}}


@pytest.mark.parametrize(
    ("header", "says"),
    [
        (b"no JSON here", "not JSON"),
        ([1, 2], "not a JSON object"),
        ({"w": 3}, "data_offsets are needed"),
        ({"w": {"dtype": "F32", "shape": [2]}}, "data_offsets are needed"),
        (entry(dtype="BF16"), "'BF16' is not supported"),
        (entry(dtype=["F32"]), "not supported"),
        (entry(shape=[-2]), "malformed"),
        (entry(shape=[True, 2]), "malformed"),
        (entry(shape="2"), "malformed"),
        (entry(data_offsets=[-8, 0]), "malformed"),
        (entry(data_offsets=[0, 4]), "4 bytes for shape"),
        (entry(data_offsets=[8, 0]), "-8 bytes for shape"),
        (entry(data_offsets=[8, 16]), "past the end of the file"),
        (entry(shape=[10**30], data_offsets=[0, 4 * 10**30]), "past the end of the file"),
    ],
)
def test_a_damaged_header_is_named(header: object, says: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.safetensors"
    write_header(path, header, b"\0" * 8)
    with pytest.raises(ContractError, match=says) as caught:
        read_safetensors(path)
    assert str(path) in str(caught.value)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "short").write_bytes(b"1234")
    (tmp_path / "long").write_bytes((2**60).to_bytes(8, "little") + b"{}")
    for name, says in (("empty", "not a readable"), ("short", "cut off"), ("long", "cut off"), ("x", "no such file")):
        with pytest.raises(ContractError, match=says):
            read_safetensors(tmp_path / name)
    with pytest.raises(ContractError, match="is a folder"):
        read_safetensors(tmp_path)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_damage_raises_anything_else(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("damage") / "a.safetensors"
    write_safetensors(path, ARRAYS)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        found = read_safetensors(path)
    except ContractError:
        return
    assert all(isinstance(values.sum(), np.generic) for values in found.values())  # every byte can be read
