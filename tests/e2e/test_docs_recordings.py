"""Every block of docs/recordings.md runs on small recordings made for it; its figures are those of the stored run.

Python blocks run as printed. Commands that name no method get a fast one without a network, and the cut recording
fewer frames, for time; they are otherwise as printed. `text` blocks need ROS: only their names are compared.
"""

import io
import json
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac.camera import Pose
from mrac.recordings.opened import Recording
from mrac.recordings.outputs import OUTPUTS
from tests.e2e.test_cli import mrac_here
from tests.mrac.recordings.bags import (
    CAMERA,
    Sent,
    at,
    cloud,
    depth_bag,
    distance,
    image,
    info,
    room,
    scan,
    transform,
    write_bag,
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "recordings.md"
RESULTS = ROOT / "results" / "recordings--2cores-x86_64--2026-11-17" / "recordings.json"
BLOCK = re.compile(r"```(sh|python|text)\n(.*?)```", re.DOTALL)
CAMERA_FROM_BASE = Pose(np.array([[0, -1, 0, 0.02], [0, 0, -1, 0.05], [1, 0, 0, 0], [0, 0, 0, 1]]))


def driving(num: int, *, sensors: bool) -> list[Sent]:
    """A camera and a lidar on a base that moves in odom; with `sensors` a laser and a sonar as well."""
    picture, z = room()
    v, u = (axis.ravel()[::7] for axis in np.mgrid[0:60, 0:80])
    xyz = CAMERA_FROM_BASE.inverse().apply(CAMERA.unproject(np.stack([u, v], 1), z[v, u])).astype(np.float32)
    sent = [Sent("/tf_static", at(0), transform(0, "cam", "base", CAMERA_FROM_BASE))]
    for i in range(num):
        t, moved = at(i / 10), np.eye(4)
        moved[0, 3] = i / 20
        sent += [
            Sent("/cam/image_raw", t, image(t, "cam", picture)),
            Sent("/cam/camera_info", t, info(t, "cam")),
            Sent("/lidar", t + 5_000_000, cloud(t + 4_000_000, "base", xyz)),
            Sent("/tf", t, transform(t, "odom", "base", Pose(moved))),
        ]
        if sensors:
            angles = np.linspace(-0.4, 0.4, 21)
            sent.append(Sent("/scan", t, scan(t, "base", angles, np.full(21, 3.0))))
            sent.append(Sent("/sonar", t, distance(t, "base", 1.6)))
    return sent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recordings")
    only_lidar = driving(2, sensors=False)
    write_bag(path / "drive.mcap", only_lidar)
    write_bag(path / "walk", driving(2, sensors=True))
    renamed = {"/cam/color/image_raw": "/rgb/image_color", "/cam/depth/image_raw": "/depth/image"}
    desk = [Sent(renamed.get(one.topic, "/rgb/camera_info"), one.log_ns, one.message) for one in depth_bag(2)]
    write_bag(path / "desk.bag", desk)
    long = write_bag(path / "cut.mcap", depth_bag(70))
    long.write_bytes(long.read_bytes()[:-50_000])
    np.savetxt(path / "laser_pose.txt", CAMERA_FROM_BASE.matrix)
    return path


def test_the_blocks_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for language, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "sh":
            for line in block.splitlines():
                run_line(line)
        elif language == "python":
            shown = io.StringIO()
            names: dict[str, Any] = {}
            with redirect_stdout(shown):
                exec(compile(block, str(PAGE), "exec"), names)
            for expected in re.findall(r"print\(.*\)  # (.*)", block):
                assert expected == shown.getvalue().strip()
            if "rejected" in names:
                assert names["depth_m"].shape == (60, 80)
                assert 0 <= names["rejected"].sum() < names["rejected"].size
    assert Path("own.mcap").is_file()


def run_line(line: str) -> None:
    command, _, comment = line.partition("#")
    words = shlex.split(command)
    fast = [] if "--list" in words or "--method" in words else ["--foundation", "none", "--method", "cfa_ols"]
    few = ["--every", "30"] if "cut.mcap" in words else []
    done = mrac_here(*words[1:], *fast, *few)
    code = int(found[1]) if (found := re.search(r"exit code (\d)", comment)) else 0
    assert done.returncode == code, f"{line}\n{done.stderr}"
    for said in re.findall(r'"(.*?)\(', comment):
        assert said in done.stderr
    if code == 0 and "--out" in words:
        prefix = words[words.index("--prefix") + 1] if "--prefix" in words else "/mrac"
        with Recording(words[words.index("--out") + 1]) as recording:
            assert {f"{prefix}/{name}" for name in OUTPUTS} <= set(recording.topics)


def test_what_the_page_says_of_the_node_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8") + (ROOT / "examples" / "ros2" / "README.md").read_text(encoding="utf-8")
    launch = (ROOT / "examples" / "ros2" / "mrac_ros" / "launch" / "depth.launch.py").read_text()
    for name in set(re.findall(r"(\w+):=", text)) - {"params"}:
        assert f'"{name}": (' in launch, name
    assert 'DeclareLaunchArgument("params"' in launch
    for name in OUTPUTS:
        assert f"`{name}`" in PAGE.read_text(encoding="utf-8"), name


def test_links_lead_somewhere_and_figures_are_those_of_the_run() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert link.startswith("http") or (PAGE.parent / link).exists(), link
    stored = json.loads(RESULTS.read_text())
    assert stored["equal_to_the_byte"]
    assert stored["killed"]["each_frame_once"]
    assert stored["command"] in text
    for value in (*stored["alone"]["peak_rss_mb_by_third"], len(stored["killed"]["killed"])):
        assert f"{value:g}" in text, value
