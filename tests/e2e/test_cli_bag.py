"""`mrac bag` as a person uses it: what is shown, what is asked for, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mrac.camera import Pose
from mrac.recordings.opened import Recording
from tests.e2e.test_cli import mrac_here
from tests.mrac.recordings.bags import Sent, at, cloud, depth_bag, image, info, room, scan, write_bag

FAST = ("--method", "cfa_ols", "--foundation", "none")


@pytest.fixture(scope="module")
def depth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp("bag") / "in.mcap", depth_bag(4, every=2))


def test_the_main_job(depth: Path, tmp_path: Path) -> None:
    done = mrac_here("bag", depth, "--out", tmp_path / "out.mcap", *FAST)
    assert done.returncode == 0, done.stderr
    assert "2 done" in done.stdout
    said = done.stderr.splitlines()
    assert said[0] == "mrac: --image-topic /cam/color/image_raw: the only one"
    assert said[-1] == "mrac: 2 images of /cam/color/image_raw have no readings within 0.02 s: left out"
    with Recording(tmp_path / "out.mcap") as recording:
        assert {topic.count for topic in recording.topics.values()} == {2}
    again = mrac_here("bag", depth, "--out", tmp_path / "out.mcap", *FAST)
    assert (again.returncode, len(again.stderr.splitlines())) == (2, 3)
    assert "there already" in again.stderr


def test_the_list_says_which_options_fit(depth: Path) -> None:
    done = mrac_here("bag", depth, "--list")
    assert done.returncode == 0
    for word in ("/cam/color/image_raw", "rgb8 80×60", "--image-topic", "--depth-topic", "--info-topic", "16UC1 80×60"):
        assert word in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_each_frame_as_json_and_quiet(depth: Path, tmp_path: Path) -> None:
    done = mrac_here("bag", depth, "--out", tmp_path / "a.mcap", "--json", "--every", "2", "--copy", "all", *FAST)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["frame"] for record in records] == ["1700000000.000000000", "1700000000.200000000"]
    with Recording(tmp_path / "a.mcap") as recording:
        assert recording.topics["/cam/color/image_raw"].count == 4
    done = mrac_here("bag", depth, "--out", tmp_path / "b.mcap", "-q", *FAST)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_cloud_with_files_of_camera_and_pose(tmp_path: Path) -> None:
    picture, z = room()
    v, u = (axis.ravel()[::7] for axis in np.mgrid[0:60, 0:80])
    xyz = np.stack([(u - 39.5) * z[v, u] / 60, (v - 29.5) * z[v, u] / 60, z[v, u]], 1)
    pose = Pose(np.array([[0, -1, 0, 0.02], [0, 0, -1, 0.05], [1, 0, 0, 0], [0, 0, 0, 1]]))
    np.savetxt(tmp_path / "pose.txt", pose.matrix)
    (tmp_path / "camera.json").write_text(json.dumps({"fx": 60, "fy": 60, "cx": 39.5, "cy": 29.5}))
    sent = [
        Sent("/image", at(0), image(at(0), "cam", picture)),
        Sent("/lidar", at(0), cloud(at(0), "lidar", pose.inverse().apply(xyz))),
    ]
    bag = write_bag(tmp_path / "in.bag", sent)
    refused = mrac_here("bag", bag, "--out", tmp_path / "a.mcap", *FAST)
    assert refused.returncode == 2
    assert "--camera FILE" in refused.stderr.splitlines()[-1]
    camera = ("--camera", tmp_path / "camera.json")
    refused = mrac_here("bag", bag, "--out", tmp_path / "a.mcap", *camera, *FAST)
    assert "no way from the frame 'lidar' to 'cam'" in refused.stderr.splitlines()[-1]
    assert not list(tmp_path.glob("*.part"))
    done = mrac_here("bag", bag, "--out", tmp_path / "a.mcap", *camera, "--pose", tmp_path / "pose.txt",
                     "--sensor", "velodyne", "--json", *FAST)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept"] > 300


def test_frames_that_fail_are_named_and_the_exit_code_says_so(tmp_path: Path) -> None:
    picture, _ = room()
    angles = np.linspace(-0.3, 0.3, 9)
    sent = [Sent("/camera_info", at(0), info(at(0), "cam"))]
    for i, encoding in enumerate(("rgb8", "nv12")):
        sent.append(Sent("/image", at(i), image(at(i), "cam", picture, encoding)))
        sent.append(Sent("/scan", at(i), scan(at(i), "cam", angles, np.full(9, 2.0))))
    # A laser in the camera's own frame looks to its right: one beam alone is in the image, so a pose is given.
    np.savetxt(tmp_path / "pose.txt", np.array([[0, -1, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]))
    bag = write_bag(tmp_path / "in.mcap", sent)
    done = mrac_here("bag", bag, "--out", tmp_path / "a.mcap", "--pose", tmp_path / "pose.txt", *FAST)
    assert done.returncode == 2
    assert "1 failed, 1 done" in done.stdout or "1 done, 1 failed" in done.stdout
    assert "nv12" in done.stderr.splitlines()[-1]
    assert (tmp_path / "a.mcap").is_file()


def test_a_cut_recording_is_one_line(depth: Path, tmp_path: Path) -> None:
    cut = write_bag(tmp_path / "long.mcap", depth_bag(70))
    stored = cut.read_bytes()
    cut.write_bytes(stored[: len(stored) - 100_000])
    done = mrac_here("bag", cut, "--out", tmp_path / "a.mcap", "--every", "20", *FAST)
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if "its end is missing" in line)
    assert str(cut) in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "a.mcap", "--image-topic", "/none"), "--image-topic /none: no such topic"),
        ((), "--out OUT.mcap is needed"),
        (("--out", "a.bag"), "ends in .mcap is needed"),
        (("--out", "a.mcap", "--sensor", "nothing"), "'nothing' is not a sensor"),
        (("--out", "a.mcap", "--method", "nothing"), "nothing"),
        (("--out", "a.mcap", "--camera-name", "2"), "--camera-name goes with --camera or --pose"),
        (("--out", "a.mcap", "--slop", "0.0001"), "give a larger --slop"),
    ],
)
def test_a_mistake_is_one_line(words: tuple[str, ...], said: str, depth: Path, tmp_path: Path) -> None:
    done = mrac_here("bag", depth, *(tmp_path / word if word.startswith("a.") else word for word in words))
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_without_rosbags_the_extra_is_named(depth: Path) -> None:
    code = (
        "import sys; sys.modules['rosbags'] = None; import mrac.cli; sys.argv = ['mrac', 'bag', sys.argv[1], '--list']"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; mrac.cli.main()", str(depth)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert 'pip install "mrac-depth[robotics]"' in done.stderr
    assert len(done.stderr.splitlines()) == 1
