import json
from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.anchors.zones import from_zones
from mrac.camera import Camera, Pose

CAMERA = Camera(500.0, 500.0, 319.5, 239.5, 640, 480)
GRID = np.arange(1.0, 17.0).reshape(4, 4)


def test_zones_cover_the_image_without_gaps() -> None:
    out = from_zones(GRID, (640, 480))
    assert out.extent_px is not None
    np.testing.assert_allclose(out.extent_px, np.tile([160.0, 120.0], (16, 1)))
    np.testing.assert_allclose(out.uv_px[0], [79.5, 59.5])
    np.testing.assert_allclose(out.uv_px[-1], [559.5, 419.5])
    np.testing.assert_allclose(out.z_m, np.arange(1.0, 17.0))
    np.testing.assert_allclose((out.uv_px - out.extent_px / 2).min(axis=0), [-0.5, -0.5])


def test_flat_and_in_millimetres() -> None:
    out = from_zones(GRID.ravel() * 1000, (640, 480), scale="mm", sigma=np.full(16, 20.0))
    np.testing.assert_allclose(out.z_m, GRID.ravel())
    assert out.sigma_m is not None
    np.testing.assert_allclose(out.sigma_m, 0.02)


@pytest.mark.parametrize(
    ("options", "first_row"),
    [
        ({"columns_first": True}, [1, 5, 9, 13]),
        ({"rotation_deg": 180}, [16, 15, 14, 13]),
        ({"rotation_deg": 90}, [4, 8, 12, 16]),
        ({"mirror": "horizontal"}, [4, 3, 2, 1]),
        ({"mirror": "vertical"}, [13, 14, 15, 16]),
    ],
)
def test_ways_to_mount_it(options: dict[str, object], first_row: list[int]) -> None:
    status = np.where(first_row[0] == GRID, 255, 5)
    out = from_zones(GRID, (640, 480), status=status, **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(out.z_m[:4], first_row)
    assert out.flag is not None
    assert out.flag[0] == "no_target"
    assert not out.flag[1:].any()


def test_status_codes_are_reasons_and_confidence() -> None:
    out = from_zones(np.ones((2, 4)), (8, 4), status=[[5, 6, 9, 10], [4, 255, 0, 77]])
    assert out.flag is not None
    assert out.confidence is not None
    assert out.flag.tolist() == [
        "", "", "", "no_target_before", "target_inconsistent", "no_target", "not_updated", "sensor_status_77"
    ]  # fmt: skip
    np.testing.assert_allclose(out.confidence, [1.0, 0.5, 0.5, 0, 0, 0, 0, 0])


def test_field_of_view_places_the_frame() -> None:
    out = from_zones(np.full((8, 8), 2.0), camera=CAMERA, fov_deg=(45.0, 45.0))
    assert out.extent_px is not None
    low, high = out.uv_px - out.extent_px / 2, out.uv_px + out.extent_px / 2
    half = 500.0 * np.tan(np.radians(22.5))
    np.testing.assert_allclose(low.min(axis=0), [319.5 - half, 239.5 - half])
    np.testing.assert_allclose(high.max(axis=0), [319.5 + half, 239.5 + half])
    np.testing.assert_allclose(out.z_m, 2.0)


def test_offsets_move_it_the_way_that_they_say() -> None:
    frame = np.full((4, 4), 2.0)
    straight = from_zones(frame, camera=CAMERA, fov_deg=(20.0, 20.0)).uv_px.mean(axis=0)
    turned = from_zones(frame, camera=CAMERA, fov_deg=(20.0, 20.0), offset_deg=(5.0, 3.0)).uv_px.mean(axis=0)
    np.testing.assert_allclose(turned - straight, 500 * np.tan(np.radians([5.0, 3.0])), rtol=0.03)
    matrix = np.eye(4)
    matrix[:3, 3] = [0.1, 0.0, 0.5]
    moved = from_zones(frame, camera=CAMERA, fov_deg=(20.0, 20.0), pose=Pose(matrix))
    np.testing.assert_allclose(moved.z_m, 2.5)
    np.testing.assert_allclose(moved.uv_px.mean(axis=0) - straight, [500 * 0.1 / 2.5, 0.0], atol=1e-6)


def test_a_zone_without_a_reading_keeps_its_place() -> None:
    frame = np.full((4, 4), 2.0)
    frame[0, 0] = np.nan
    out = from_zones(frame, camera=CAMERA, fov_deg=(20.0, 20.0))
    assert np.isfinite(out.uv_px).all()
    assert np.isnan(out.z_m[0])
    assert np.isfinite(out.z_m[1:]).all()


def test_files(tmp_path: Path) -> None:
    millimetres = (GRID * 100).astype(int)
    (tmp_path / "a.json").write_text(
        json.dumps({"distance_mm": millimetres.ravel().tolist(), "target_status": [5] * 15 + [4]})
    )
    (tmp_path / "grid.txt").write_text("# a frame\n" + "\n".join(" ".join(map(str, row)) for row in millimetres))
    table = ["zone,distance_mm,status,range_sigma_mm", *(f"{i},{z},5,10" for i, z in enumerate(millimetres.ravel()))]
    (tmp_path / "table.csv").write_text("\n".join(table))
    for name, scale in (("a.json", None), ("grid.txt", "mm"), ("table.csv", None)):
        out = from_zones(tmp_path / name, (640, 480), scale=scale)
        np.testing.assert_allclose(out.z_m, GRID.ravel() / 10)
        assert (out.flag is None) == (name == "grid.txt")
    assert from_zones(tmp_path / "a.json", (640, 480)).flag.tolist()[-1] == "target_inconsistent"  # type: ignore[union-attr]
    sigma_m = from_zones(tmp_path / "table.csv", (640, 480)).sigma_m
    assert sigma_m is not None
    np.testing.assert_allclose(sigma_m, 0.01)
    with pytest.raises(ContractError, match="does not state its unit"):
        from_zones(tmp_path / "grid.txt", (640, 480))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"z": np.ones(15)}, "16 or 64 numbers"),
        ({"z": GRID, "status": np.ones(3)}, "zones.status"),
        ({"z": GRID, "rotation_deg": 45}, "0, 90, 180 or 270"),
        ({"z": GRID, "fov_deg": (45, 45)}, "without camera"),
        ({"z": GRID, "image_size": None}, "neither image_size nor camera"),
        ({"z": GRID, "offset_deg": (1, 0)}, "without fov_deg"),
        ({"z": GRID, "scale": "inch"}, "'inch' arrived"),
    ],
)
def test_mistakes_are_one_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        from_zones(**{"image_size": (640, 480), **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize("separator", [";", "\t", " ; "])
def test_decimal_commas_where_something_else_separates(separator: str, tmp_path: Path) -> None:
    path = tmp_path / "zones.csv"
    path.write_text("\n".join(separator.join(f"{z:.2f}".replace(".", ",") for z in row) for row in GRID))
    np.testing.assert_allclose(from_zones(path, (640, 480), scale="m").z_m, GRID.ravel())


def test_a_deviation_beside_a_file_is_not_ignored(tmp_path: Path) -> None:
    path = tmp_path / "zones.json"
    path.write_text(json.dumps({"z_m": GRID.tolist()}))
    with pytest.raises(ContractError, match=r"sigma arrived with the file .*zones\.json"):
        from_zones(path, (640, 480), sigma=np.ones(16))
