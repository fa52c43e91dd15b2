"""Files of readings with the options of the command line: what a file states counts, and no option is ignored."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mrac.anchors import read_anchors
from mrac.anchors.sources import SourceOptions, read_source
from mrac.camera import Camera, Pose, read_camera
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from tests.mrac.sfm.synthetic import HEIGHT, IMAGES, WIDTH, write_binary

SIZE = (40, 30)
CAMERA = Camera(50.0, 50.0, 19.5, 14.5, *SIZE)


def depth_of(path: Path, **options: object) -> np.ndarray:
    return read_source(path, SourceOptions(image_size=SIZE, **options)).z_m  # type: ignore[arg-type]


@pytest.mark.parametrize(("header", "default", "z_m"), [("z_m", 1000.0, 2.0), ("z", 1000.0, 0.002), ("z", None, 2.0)])
def test_a_sensors_unit_is_that_of_a_table_without_one(
    tmp_path: Path, header: str, default: float | None, z_m: float
) -> None:
    (tmp_path / "a.csv").write_text(f"u,v,{header}\n1,2,2\n")
    assert depth_of(tmp_path / "a.csv", default_scale=default) == pytest.approx([z_m])
    assert depth_of(tmp_path / "a.csv", scale="100", default_scale=default) == pytest.approx([0.02])


def test_a_sensors_unit_is_that_of_whole_numbers_in_a_depth_image_and_not_of_metres(tmp_path: Path) -> None:
    np.save(tmp_path / "metres.npy", np.full((30, 40), 2.0))
    Image.fromarray(np.full((30, 40), 2000, np.uint16)).save(tmp_path / "steps.png")
    options = {"kind": "depth", "default_scale": 1000.0}
    assert depth_of(tmp_path / "metres.npy", **options).tolist() == [2.0] * 1200
    assert depth_of(tmp_path / "steps.png", **options).tolist() == [2.0] * 1200
    assert depth_of(tmp_path / "steps.png", default_scale=1000.0).tolist() == [2.0] * 1200


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ({"max_anchors": 3}, "--max-anchors"),
        ({"pose": Pose.identity()}, "--pose"),
        ({"fov_deg": (45.0, 45.0)}, "--fov"),
        ({"rotation_deg": 180}, "--turned"),
        ({"mirror": "vertical"}, "--mirrored"),
        ({"metres_per_unit": 1.0}, "--metres-per-unit"),
        ({"confidence": Path("c.png")}, "--confidence"),
    ],
)
def test_an_option_that_a_table_has_no_use_for_is_refused(tmp_path: Path, option: dict[str, object], name: str) -> None:
    (tmp_path / "a.csv").write_text("u,v,z\n1,2,2\n")
    with pytest.raises(ContractError, match=f"{name} arrived with .*a.csv, read as table"):
        depth_of(tmp_path / "a.csv", **option)


def test_a_cloud_takes_no_scale(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("0 0 2000\n")
    with pytest.raises(ContractError, match=r"--anchors-scale .* read as cloud"):
        depth_of(tmp_path / "a.xyz", scale="mm", camera=CAMERA)


def test_a_cloud_that_the_camera_does_not_see_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("0 0 2\n")
    assert depth_of(tmp_path / "a.xyz", camera=CAMERA).tolist() == [2.0]
    (tmp_path / "a.xyz").write_text("0 0 -2\n")
    with pytest.raises(ContractError, match=r"no point of the cloud .* lies in the image.*no --pose was given"):
        depth_of(tmp_path / "a.xyz", camera=CAMERA)


def test_a_pose_without_the_depth_camera_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.full((30, 40), 2.0))
    with pytest.raises(ContractError, match="pose arrived without depth_camera"):
        depth_of(tmp_path / "d.npy", kind="depth", camera=CAMERA, pose=Pose.identity())


def test_names_of_scales_may_be_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("u,v,z\n1,2,2000\n")
    assert depth_of(tmp_path / "a.csv", scale="MM").tolist() == [2.0]


def test_another_kind_of_file_is_refused_with_the_endings_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.zones").write_text("1 2\n3 4\n")  # mrac.anchors.zones is no reader of tables
    with pytest.raises(ContractError, match=r"one of \.csv, \.txt, \.tsv, \.npz, \.png is needed"):
        read_anchors(tmp_path / "a.zones")


def test_a_model_of_images_of_another_size_needs_the_camera(tmp_path: Path) -> None:
    folder, name, half = write_binary(tmp_path / "model"), IMAGES[0][2], (WIDTH // 2, HEIGHT // 2)
    own = read_source(folder, SourceOptions(image_size=(WIDTH, HEIGHT), image_name=name, metres_per_unit=1.0))
    with pytest.raises(
        ContractError, match=f"is of {WIDTH}×{HEIGHT} images, this one is {half[0]}×{half[1]}; .*--camera"
    ):
        read_source(folder, SourceOptions(image_size=half, image_name=name, metres_per_unit=1.0))
    camera = read_camera(folder).resized(*half)
    options = SourceOptions(image_size=half, image_name=name, metres_per_unit=1.0, camera=camera)
    np.testing.assert_allclose(read_source(folder, options).uv_px, (own.uv_px + 0.5) / 2 - 0.5, atol=1e-6)


def test_a_frame_of_zones_is_turned_and_mirrored_as_asked(tmp_path: Path) -> None:
    (tmp_path / "zones.csv").write_text("\n".join(",".join(str(1 + 4 * r + c) for c in range(4)) for r in range(4)))
    grid = np.arange(1.0, 17.0).reshape(4, 4)

    def read(**given: Any) -> FloatArray:
        options = SourceOptions(kind="zones", image_size=(64, 48), scale="m", **given)
        anchors = read_source(tmp_path / "zones.csv", options)
        return anchors.z_m[np.lexsort(anchors.uv_px.T)].reshape(4, 4)

    np.testing.assert_array_equal(read(), grid)
    np.testing.assert_array_equal(read(rotation_deg=180), grid[::-1, ::-1])
    np.testing.assert_array_equal(read(mirror="horizontal"), grid[:, ::-1])
