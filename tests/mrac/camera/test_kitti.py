"""KITTI's calibration files: camera and pose together are KITTI's own projection."""

import os
from pathlib import Path

import numpy as np
import pytest

from mrac.camera import read_camera, read_pose
from mrac.conventions import FloatArray
from mrac.errors import ContractError

KITTI = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data")) / "raw/kitti"
SIZE = (1242, 375)
P2 = "7.215e+02 0 6.096e+02 4.486e+01 0 7.215e+02 1.729e+02 2.164e-01 0 0 1 2.746e-03"
P3 = "7.215e+02 0 6.096e+02 -3.395e+02 0 7.215e+02 1.729e+02 2.199e+00 0 0 1 2.730e-03"
R0 = (
    "9.999239e-01 9.837760e-03 -7.445048e-03 -9.869795e-03 9.999421e-01 -4.278459e-03 "
    "7.402527e-03 4.351614e-03 9.999631e-01"
)
R = (
    "7.533745e-03 -9.999714e-01 -6.166020e-04 1.480249e-02 7.280733e-04 -9.998902e-01 "
    "9.998621e-01 7.523790e-03 1.480755e-02"
)
T = "-4.069766e-03 -7.631618e-02 -2.717806e-01"


def numbers(text: str, *shape: int) -> FloatArray:
    return np.array(text.split(), dtype=float).reshape(shape)


def tr() -> FloatArray:
    return np.concatenate([numbers(R, 3, 3), numbers(T, 3, 1)], axis=1)


def flat(matrix: FloatArray) -> str:
    return " ".join(map(repr, matrix.ravel().tolist()))


def by_kitti(p: FloatArray, r0: FloatArray, velo: FloatArray, xyz: FloatArray) -> FloatArray:
    """P · R0_rect · Tr · X as the benchmark's devkit writes it."""
    rectify, to_camera = np.eye(4), np.eye(4)
    rectify[:3, :3], to_camera[:3] = r0, velo
    seen = np.append(xyz, np.ones((len(xyz), 1)), axis=1) @ (p @ rectify @ to_camera).T
    return np.where(seen[:, 2:] > 0, seen[:, :2] / seen[:, 2:], np.nan)


def cloud() -> FloatArray:
    return np.random.default_rng(0).uniform((-5, -20, -2), (60, 20, 3), (500, 3))


def write(path: Path, **lines: str) -> Path:
    path.write_text("".join(f"{name}: {values}\n" for name, values in lines.items()))
    return path


def test_a_real_scan_is_projected_as_kitti_does() -> None:
    if not (KITTI / "000022.bin").is_file():
        pytest.skip("no data pack")
    path = KITTI / "calib.txt"
    entries = dict(line.split(":") for line in path.read_text().splitlines() if ":" in line)
    xyz = np.fromfile(KITTI / "000022.bin", dtype=np.float32).reshape(-1, 4)[:, :3].astype(float)
    wanted = by_kitti(
        numbers(entries["P2"], 3, 4), numbers(entries["R0_rect"], 3, 3), numbers(entries["Tr_velo_to_cam"], 3, 4), xyz
    )
    uv = read_camera(path, size=SIZE).project(read_pose(path).apply(xyz))
    assert np.isfinite(uv).all(axis=1).sum() > 60000
    np.testing.assert_allclose(uv, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("camera", "projection"), [(None, P2), (2, P2), ("P3", P3), ("image_03", P3)])
def test_object_benchmark(tmp_path: Path, camera: str | int | None, projection: str) -> None:
    path = write(tmp_path / "calib.txt", P2=P2, P3=P3, R0_rect=R0, Tr_velo_to_cam=flat(tr()), Tr_imu_to_velo=flat(tr()))
    found = read_camera(path, camera, size=SIZE)
    assert (found.model, found.width, found.height) == ("pinhole", *SIZE)
    np.testing.assert_allclose(
        found.project(read_pose(path, camera).apply(cloud())),
        by_kitti(numbers(projection, 3, 4), numbers(R0, 3, 3), tr(), cloud()),
        rtol=0,
        atol=1e-6,
    )


def test_tracking_leaves_out_colons(tmp_path: Path) -> None:
    path = tmp_path / "0000.txt"
    path.write_text(f"P2: {P2}\nR_rect {R0}\nTr_velo_cam {flat(tr())}\n")
    np.testing.assert_allclose(
        read_camera(path, size=SIZE).project(read_pose(path).apply(cloud())),
        by_kitti(numbers(P2, 3, 4), numbers(R0, 3, 3), tr(), cloud()),
        rtol=0,
        atol=1e-6,
    )


def test_odometry_has_no_rectification(tmp_path: Path) -> None:
    path = write(tmp_path / "calib.txt", P0=P3, P2=P2, Tr=flat(tr()))
    np.testing.assert_allclose(
        read_camera(path, size=SIZE).project(read_pose(path).apply(cloud())),
        by_kitti(numbers(P2, 3, 4), np.eye(3), tr(), cloud()),
        rtol=0,
        atol=1e-6,
    )


def test_raw_data_has_two_files_and_states_the_size(tmp_path: Path) -> None:
    lidar = write(tmp_path / "calib_velo_to_cam.txt", calib_time="15-Mar-2012 11:37:16", R=R, T=T, delta_f="0 0")
    with pytest.raises(ContractError, match=r"calib_cam_to_cam\.txt is needed beside it"):
        read_pose(lidar)
    cameras = write(
        tmp_path / "calib_cam_to_cam.txt",
        calib_time="09-Jan-2012 13:57:47", S_rect_02="1.242e+03 3.75e+02", R_rect_00=R0, P_rect_02=P2, P_rect_03=P3,
    )  # fmt: skip
    found = read_camera(cameras)
    assert (found.width, found.height) == SIZE
    np.testing.assert_allclose(
        found.project(read_pose(lidar).apply(cloud())),
        by_kitti(numbers(P2, 3, 4), numbers(R0, 3, 3), tr(), cloud()),
        rtol=0,
        atol=1e-6,
    )


def test_the_only_camera_needs_no_name(tmp_path: Path) -> None:
    path = write(tmp_path / "calib.txt", P0=P3, R0_rect=R0)
    assert read_camera(path, size=SIZE).fx_px == 721.5


@pytest.mark.parametrize(
    ("lines", "camera", "message"),
    [
        ({"P2": P2}, None, r"does not state the image's size; give it: read_camera\(…, size=\(width, height\)\)"),
        ({"P2": P2, "P3": P3}, "1", "camera 1 is asked for, those inside are: 2, 3"),
        ({"P0": P2, "P1": P3}, None, "camera 2 is asked for, those inside are: 0, 1"),
        ({"P2": "1 2 3"}, None, "P2 has 3 numbers, 3×4 finite ones are needed"),
    ],
)
def test_a_camera_that_is_not_there(tmp_path: Path, lines: dict[str, str], camera: str | None, message: str) -> None:
    with pytest.raises(ContractError, match=f"calib.txt.*{message}"):
        read_camera(write(tmp_path / "calib.txt", **lines), camera)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ({"P2": P2, "R0_rect": R0}, "no Tr_velo_to_cam inside, only P2, R0_rect"),
        ({"P2": P2, "Tr_velo_to_cam": P2}, "no R0_rect inside, only P2, Tr_velo_to_cam"),
        ({"P2": P2, "R0_rect": R0, "Tr_velo_to_cam": P2}, "no rotation"),
        ({"R0_rect": R0, "Tr_velo_to_cam": P2}, "those inside are: none"),
    ],
)
def test_a_pose_that_is_not_there(tmp_path: Path, lines: dict[str, str], message: str) -> None:
    with pytest.raises(ContractError, match=f"calib.txt.*{message}"):
        read_pose(write(tmp_path / "calib.txt", **lines))
