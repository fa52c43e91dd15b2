"""Models in COLMAP's two formats, and what a broken file is called."""

import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mrac.errors import ContractError
from mrac.sfm import SfmModel, read_model
from tests.mrac.sfm import synthetic
from tests.mrac.sfm.synthetic import ERROR_PX, IMAGES, POINT_IDS, RGB, SEEN_BY, XYZ, keypoints, write_binary, write_text

both = pytest.mark.parametrize("write", [write_binary, write_text])
Writer = Callable[[Path], Path]


@both
def test_a_model_is_read_as_it_was_written(write: Writer, tmp_path: Path) -> None:
    model = read_model(write(tmp_path))
    assert model.cameras == {3: synthetic.CAMERA}
    assert list(model.images) == [image[0] for image in IMAGES]
    for written in IMAGES:
        image = model.images[written[0]]
        assert (image.camera_id, image.name) == (3, written[2])
        np.testing.assert_allclose(image.camera_from_world.matrix, synthetic.pose(written).matrix, atol=1e-15)
        keys = np.array(keypoints(written[0])).reshape(-1, 3)
        np.testing.assert_allclose(image.uv_px, keys[:, :2] - 0.5, atol=1e-12)
        assert image.point_id.tolist() == keys[:, 2].tolist()
    points = model.points
    assert points.point_id.tolist() == list(POINT_IDS)
    np.testing.assert_array_equal(points.xyz, XYZ)
    np.testing.assert_array_equal(points.rgb, RGB)
    assert points.error_px.tolist() == list(ERROR_PX)
    assert points.track_length.tolist() == [len(seen) for seen in SEEN_BY]
    pairs = [pair for track in synthetic.tracks() for pair in track]
    assert list(zip(points.track_image_id.tolist(), points.track_keypoint.tolist(), strict=True)) == pairs


@both
def test_what_an_image_sees_agrees_with_the_tracks(write: Writer, tmp_path: Path) -> None:
    model = read_model(write(tmp_path))
    for image in model.images.values():
        uv, row = model.seen_in(image)
        assert {int(i) for i in model.points.point_id[row]} == {
            p for p, seen in zip(POINT_IDS, SEEN_BY, strict=True) if image.image_id in seen
        }
        projected = synthetic.CAMERA.project(image.camera_from_world.apply(model.points.xyz[row]))
        np.testing.assert_allclose(uv, projected, atol=1e-9)
        owner, place = model.points.observations_of(row)
        for n, point in enumerate(row.tolist()):
            assert tuple(model.points.track_image_id[place[owner == n]].tolist()) == SEEN_BY[point]


def test_a_model_without_points_is_read(tmp_path: Path) -> None:
    write_binary(tmp_path)
    (tmp_path / "points3D.bin").write_bytes(struct.pack("<Q", 0))
    model = read_model(tmp_path)
    assert len(model.points) == 0
    assert model.points.rows_of(np.array([5])).tolist() == [-1]


def test_the_folder_may_be_above_the_only_model(tmp_path: Path) -> None:
    write_binary(tmp_path / "sparse" / "0")
    assert read_model(str(tmp_path)).folder == tmp_path / "sparse" / "0"
    write_text(tmp_path / "sparse" / "1")
    with pytest.raises(ContractError, match=r"holds 2 models: .*give the folder of one"):
        read_model(tmp_path)
    # hloc keeps the best model in its output folder and the others below.
    write_binary(tmp_path)
    assert read_model(tmp_path).folder == tmp_path


def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no such folder"):
        read_model(tmp_path / "missing")
    (tmp_path / "images.txt").touch()
    with pytest.raises(ContractError, match="no model in it; cameras, images, points3D"):
        read_model(tmp_path)


@pytest.fixture
def model(tmp_path: Path) -> SfmModel:
    return read_model(write_binary(tmp_path))


def test_an_image_is_found_by_the_end_of_its_path(model: SfmModel) -> None:
    assert model.image("right/c.png").image_id == model.image("c.png").image_id == 11
    assert model.image("a.png").image_id == 7
    with pytest.raises(ContractError, match=r"no registered image 'd.png' among its 4; a name such as"):
        model.image("d.png")


def test_an_ambiguous_name_is_refused(tmp_path: Path) -> None:
    write_text(tmp_path)
    text = (tmp_path / "images.txt").read_text().replace("right/c.png", "right/a.png")
    (tmp_path / "images.txt").write_text(text)
    with pytest.raises(ContractError, match=r"fits left/a.png, right/a.png; give the whole name"):
        read_model(tmp_path).image("a.png")


@pytest.mark.parametrize("name", ["cameras.bin", "images.bin", "points3D.bin"])
@pytest.mark.parametrize("count", [5, 2**40, 2**64 - 1])
def test_a_header_that_promises_more_than_the_file_holds(name: str, count: int, tmp_path: Path) -> None:
    path = write_binary(tmp_path) / name
    path.write_bytes(struct.pack("<Q", count) + path.read_bytes()[8:])
    with pytest.raises(ContractError, match=name) as caught:
        read_model(tmp_path)
    assert "\n" not in str(caught.value)


def test_counts_within_a_record_are_checked_too(tmp_path: Path) -> None:
    write_binary(tmp_path)
    images, points = (tmp_path / f"{stem}.bin" for stem in ("images", "points3D"))
    content = images.read_bytes()
    at = content.index(b"left/a.png\0") + len(b"left/a.png\0")
    images.write_bytes(content[:at] + struct.pack("<Q", 2**63) + content[at + 8 :])
    with pytest.raises(ContractError, match=rf"images.bin: image 'left/a.png' states {2**63} keypoints"):
        read_model(tmp_path)
    images.write_bytes(content)
    content = points.read_bytes()
    points.write_bytes(content[:51] + struct.pack("<Q", 2**62) + content[59:])
    with pytest.raises(ContractError, match=r"points3D.bin: ends in the middle"):
        read_model(tmp_path)
    points.write_bytes(content + b"x")
    with pytest.raises(ContractError, match=r"points3D.bin: 1 bytes follow its last record"):
        read_model(tmp_path)


def complaint_about(folder: Path) -> str | None:
    try:
        model = read_model(folder)
        for image in model.images.values():
            model.seen_in(image)
    except ContractError as error:
        return str(error)
    return None


@both
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stem=st.sampled_from(["images", "points3D"]), cut=st.floats(0.0, 1.0), flip=st.integers(0, 255))
@example(stem="images", cut=0.0, flip=0)
def test_a_cut_or_altered_file_is_read_or_is_one_line(
    write: Writer, tmp_path: Path, stem: str, cut: float, flip: int
) -> None:
    path = next(write(tmp_path).glob(f"{stem}.*"))
    content = bytearray(path.read_bytes())
    at = int(cut * (len(content) - 1))
    content[at] ^= flip
    for damaged in (bytes(content), bytes(content[:at])):
        path.write_bytes(damaged)
        complaint = complaint_about(tmp_path)
        assert complaint is None or (str(tmp_path) in complaint and "\n" not in complaint)


@pytest.mark.parametrize(
    ("stem", "line", "match"),
    [
        ("images", "1 1 0 0 0 0 0 0", "IMAGE_ID QW"),
        ("images", "1 1 0 0 0 0 0 0 3 x.png\n1.0 2.0", "triples X Y POINT3D_ID"),
        ("images", "1 1 0 0 0 0 0 x 3 x.png\n", "a number in every cell"),
        ("images", "1 0 0 0 0 0 0 0 3 x.png\n", "quaternion"),
        ("images", "1 1 0 0 0 0 0 0 9 x.png\n", "camera 9"),
        ("images", "1 1 0 0 0 0 0 0 3 x.png\n1 1 77", "sees point 77"),
        ("points3D", "1 0 0 0 0 0 0", "POINT3D_ID X Y Z"),
        ("points3D", "1 0 0 0 0 0 0 0.5 1", "pairs"),
        ("points3D", "1 0 0 0 0 300 0 0.5 1 2", "colour"),
    ],
)
def test_a_broken_text_file_is_one_line(stem: str, line: str, match: str, tmp_path: Path) -> None:
    (write_text(tmp_path) / f"{stem}.txt").write_text(line + "\n")
    complaint = complaint_about(tmp_path)
    assert complaint is not None
    assert re.search(match, complaint)
