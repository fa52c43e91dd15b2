"""Recordings of real frames, TUM RGB-D and KITTI: an MCAP and a ROS 1 bag in, every value against the library's own."""

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mrac import Anchors, Calibrator, read_image
from mrac.camera import Camera, read_camera, read_pose
from mrac.recordings.opened import Recording
from mrac.recordings.points import structured
from mrac.recordings.run import BagOptions, BagRun
from mrac.recordings.topics import candidates, choose
from tests.mrac.recordings.bags import (
    Sent,
    cloud,
    compressed,
    depth_header,
    image,
    info,
    png,
    transform,
    write_bag,
)

PACKS = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data"))
TUM = Camera(517.3, 516.5, 318.6, 255.3, 640, 480, "radtan", (0.2624, -0.9531, -0.0054, 0.0026, 1.1633))  # freiburg1
NAMES = ["in.mcap", "in.bag"]
pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(not (PACKS / "eval").is_dir(), reason="the real data pack is not beside this checkout"),
]


def rows(set_name: str, num: int) -> list[dict[str, str]]:
    with (PACKS / "eval" / "manifest.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["set"] == set_name][:num]


def stored(row: dict[str, str], column: str) -> Any:
    with Image.open(PACKS / "eval" / row[column]) as picture:
        return np.asarray(picture).astype(np.float64)


def outcome(bag: Path, out: Path) -> dict[str, list[Any]]:
    with Recording(bag) as recording:
        chosen = choose(candidates(recording), None, (), None)
        BagRun(recording, chosen, BagOptions()).run(Calibrator(), out)
    found: dict[str, list[Any]] = {}
    with Recording(out) as recording:
        assert recording.faults == []
        for message in recording.messages(list(recording.topics)):
            header = recording.header(message)
            found.setdefault(message.topic, []).append((header, message.log_ns, recording.decoded(message)))
    return found


def check(found: dict[str, list[Any]], frames: list[tuple[int, Any, Anchors, Camera]]) -> None:
    calibrator = Calibrator()
    assert len(found) == 7
    assert {len(messages) for messages in found.values()} == {len(frames)}
    for i, (stamp_ns, pixels, anchors, camera) in enumerate(frames):
        expected = calibrator(pixels, anchors, camera=camera)
        for messages in found.values():
            assert (messages[i][0].stamp_ns, messages[i][0].frame, messages[i][1]) == (stamp_ns, "camera", stamp_ns + 5)
        maps = {name: found[f"/mrac/depth/{name}"][i][2] for name in ("image", "sigma", "image_mm")}
        shape = expected.depth_m.shape
        np.testing.assert_array_equal(maps["image"].data.view("<f4").reshape(shape), expected.depth_m)
        np.testing.assert_array_equal(maps["sigma"].data.view("<f4").reshape(shape), expected.sigma_m)
        mm = np.rint(expected.depth_m.astype(np.float64) * 1000)
        np.testing.assert_array_equal(maps["image_mm"].data.view("<u2").reshape(shape), np.where(mm > 65535, 0, mm))
        readings = structured(found["/mrac/readings"][i][2])
        np.testing.assert_array_equal(readings["keep"].astype(bool), expected.anchors.keep)
        np.testing.assert_array_equal(
            readings["outlier_probability"], expected.anchors.outlier_probability.astype(np.float32)
        )
        points = structured(found["/mrac/points"][i][2])
        cloud_of = expected.points(camera, image=pixels, stride=4)
        np.testing.assert_array_equal(points["x"], cloud_of.xyz_m[:, 0].astype(np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_tum(name: str, tmp_path: Path) -> None:
    """An RGB-D camera, JPEG and compressedDepth, at the stamps of the data set."""
    sent, frames = [], []
    for row in rows("tum", 3):
        seconds, _, fraction = row["id"].rpartition("_")[2].partition(".")
        stamp = int(seconds) * 1_000_000_000 + int(fraction) * 1000
        mm = np.rint(stored(row, "gt") / 5).astype(np.uint16)  # 5000 steps a metre
        content = (PACKS / "eval" / row["rgb"]).read_bytes()
        sent += [
            Sent(
                "/rgb/image_color/compressed",
                stamp + 5,
                compressed(stamp, "camera", content, "rgb8; jpeg compressed bgr8"),
            ),
            Sent("/rgb/camera_info", stamp + 5, info(stamp, "camera", TUM)),
            Sent(
                "/depth/image/compressedDepth",
                stamp + 9_000_000,
                compressed(stamp + 8_000_000, "camera", depth_header() + png(mm), "16UC1; compressedDepth png"),
            ),
        ]
        frames.append(
            (
                stamp,
                read_image(PACKS / "eval" / row["rgb"]),
                Anchors.from_depth_map(mm, scale="mm", max_anchors=500),
                TUM,
            )
        )
    check(outcome(write_bag(tmp_path / name, sent), tmp_path / "out.mcap"), frames)


@pytest.mark.parametrize("name", NAMES)
def test_kitti(name: str, tmp_path: Path) -> None:
    """A raw Velodyne scan, placed by /tf_static, beside the frame of its own and one more with the same scan."""
    calib = PACKS / "raw" / "kitti" / "calib.txt"
    pose = read_pose(calib, "2")
    xyz = np.fromfile(PACKS / "raw" / "kitti" / "000022.bin", "<f4").reshape(-1, 4)[:, :3]
    sent, frames = [], []
    for i, row in enumerate(rows("kitti15", 2)):
        stamp = 1_317_000_000_000_000_000 + i * 100_000_000
        pixels = read_image(PACKS / "eval" / row["rgb"])
        camera = read_camera(calib, "2", size=(pixels.shape[1], pixels.shape[0]))
        sent += [
            Sent("/cam2/image_rect", stamp + 5, image(stamp, "camera", pixels[..., ::-1], "bgr8")),
            Sent("/cam2/camera_info", stamp + 5, info(stamp, "camera", camera)),
            Sent("/velodyne", stamp + 9, cloud(stamp + 4_000_000, "velodyne", xyz)),
        ]
        points = xyz.astype(np.float64)
        frames.append((stamp, pixels, Anchors.from_point_cloud(points, camera, pose, max_anchors=500), camera))
    sent.append(Sent("/tf_static", sent[0].log_ns, transform(0, "camera", "velodyne", pose)))
    found = outcome(write_bag(tmp_path / name, sent), tmp_path / "out.mcap")
    # A quaternion is not quite the matrix that it was made of: the readings are those of the transform as recorded.
    with Recording(tmp_path / name) as recording:
        (message,) = recording.messages(["/tf_static"])
        from mrac.recordings.transforms import pose_of  # noqa: PLC0415

        placed = pose_of(recording.decoded(message).transforms[0].transform)
    np.testing.assert_allclose(placed.matrix, pose.matrix, atol=1e-6)
    again = [
        (s, p, Anchors.from_point_cloud(xyz.astype(np.float64), c, placed, max_anchors=500), c) for s, p, _, c in frames
    ]
    check(found, again)
