"""Frames of the gate's training: packs that are joined, pixels that are restricted, cameras that are a frame's own."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.lab.train.gate import frames as gate_frames
from mrac.lab.train.gate.draw_readings import draw
from mrac.lab.train.gate.frames import GateData
from tests.lab.train import tiny
from tests.lab.train.gate.made_frame import frame


def noise(image: ImageArray, z_m: FloatArray, rng: np.random.Generator, max_range_m: float) -> FloatArray:
    """In place of the matching of two views: what two generators have in common is their seed."""
    return rng.uniform(1.0, max_range_m, z_m.shape)


def test_a_frame_within_some_pixels_keeps_what_was_computed_of_it() -> None:
    whole = frame()
    pixels = whole.pixels[:20]
    cameras, appearance = whole.stereo_m, whole.appearance
    part = whole.within(pixels)
    assert part.stereo_m is cameras
    assert part.appearance is appearance
    np.testing.assert_array_equal(part.pixels, pixels)
    assert whole.pixels.size > 20
    for family in ("clean", "matched"):
        drawn = draw(part, family, 0.25, 50, np.random.default_rng(0))
        assert drawn.pixels.size
        assert np.isin(drawn.pixels, pixels).all()


def test_stereo_cameras_are_those_of_the_frames_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_frames, "stereo_scan", noise)
    one, two = (replace(frame(), name=name) for name in ("nyu/1", "nyu/2"))
    fewer = replace(one, pixels=one.pixels[:50])
    for number, camera in enumerate(one.stereo_m):
        np.testing.assert_array_equal(camera, fewer.stereo_m[number])
        assert (camera != two.stereo_m[number]).any()


def test_frames_of_several_packs_are_joined_by_set(tmp_path: Path) -> None:
    folders = (
        tiny.write_pack(tmp_path / "pack", 4),
        tiny.write_pack(tmp_path / "walk", 3, set_name="hololens"),
        tiny.write_pack(tmp_path / "more", 2),
    )
    sets = GateData(folders=folders, networks=()).sets()
    assert {name: len(frames) for name, frames in sets.items()} == {"toy": 6, "hololens": 3}
    assert {each.folder for each in sets["toy"]} == {folders[0], folders[2]}
    limited = GateData(folders=folders, networks=(), limit=2).sets()
    assert {name: len(frames) for name, frames in limited.items()} == {"toy": 2, "hololens": 2}


def test_packs_without_truth_are_refused_by_their_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.csv").write_text("set,id,rgb,depth\nkitti_seq,1,a.png,b.png\n")
    with pytest.raises(ContractError, match=r"one and .*two has no row with a depth file that can be trusted"):
        GateData(folders=(tmp_path / "one", tmp_path / "two"), networks=()).sets()


def test_a_frame_has_the_name_of_its_row(tmp_path: Path) -> None:
    folder = tiny.write_pack(tmp_path / "pack", 1)
    (row,) = GateData(folders=(folder,), networks=()).sets()["toy"]
    image = row.image()
    read = gate_frames._gate_frame(row, image, np.zeros(image.shape[:2], np.float32))
    assert read.name == "toy/0"
