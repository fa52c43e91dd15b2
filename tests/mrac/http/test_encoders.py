"""Answers hold the library's numbers to the last bit."""

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest

from mrac import Anchors, Calibrator
from mrac.errors import ContractError
from mrac.http import chosen_format, encoded
from mrac.http.encoders import plain
from tests.mrac.http.frames import ANCHORS, IMAGE


@pytest.mark.parametrize(
    ("field", "accept", "name"),
    [
        (None, None, "json"),
        (None, "*/*", "json"),
        ("png", "application/json", "png"),
        ("application/x-npz", None, "npz"),
        (None, "image/png", "png"),
        (None, "image/*;q=0.8, application/x-npz", "npz"),
        (None, "text/html, application/json;q=0.5", "json"),
        (None, "text/html, */*;q=0.1", "json"),
        (None, "image/png;q=broken, application/json", "json"),
    ],
)
def test_the_format_is_the_field_s_or_the_header_s(field: str | None, accept: str | None, name: str) -> None:
    assert chosen_format(field, accept) == name


@pytest.mark.parametrize(("field", "accept"), [("gif", None), (None, "text/html"), (None, "image/png;q=0")])
def test_another_format_is_refused(field: str | None, accept: str | None) -> None:
    with pytest.raises(ContractError, match="is needed"):
        chosen_format(field, accept)


def test_every_format_is_the_library_s_own(tmp_path: Path) -> None:
    result = Calibrator("nearest")(IMAGE, ANCHORS)
    assert encoded("png", result, ANCHORS, "a") == result.save(tmp_path / "a.png").read_bytes()
    with (
        np.load(io.BytesIO(encoded("npz", result, ANCHORS, "a"))) as sent,
        np.load(result.save(tmp_path / "a.npz")) as own,
    ):
        assert sorted(sent) == sorted(own)
        assert all(np.array_equal(sent[name], own[name]) for name in own)
    content = json.loads(encoded("json", result, ANCHORS, "a"))
    for name in ("depth_m", "sigma_m"):
        packed = content[name]
        values = np.frombuffer(base64.b64decode(packed["base64"]), packed["dtype"]).reshape(packed["shape"])
        assert np.array_equal(values, getattr(result, name))
    for name, values in vars(result.anchors).items():
        assert [row[name] for row in content["anchors"]] == values.tolist()
    assert content["request_id"] == "a"


def test_maps_can_be_left_out_and_numbers_that_json_lacks_are_null() -> None:
    anchors = Anchors([*ANCHORS.uv_px.tolist(), [1, 1]], [*ANCHORS.z_m, np.nan])
    result = Calibrator("nearest")(IMAGE, anchors)
    content = json.loads(encoded("json", result, anchors, "a", "none"))
    assert "depth_m" not in content
    assert content["anchors"][-1]["z_m"] is None
    assert "sigma_m" not in plain(result, anchors, "a", "depth")
    with pytest.raises(ContractError, match="maps: 'all'"):
        plain(result, anchors, "a", "all")
