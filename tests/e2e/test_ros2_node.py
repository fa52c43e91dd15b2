"""The ROS 2 node of examples/ros2: a recording is replayed through a stand-in of rclpy; what it publishes is compared
with what `mrac bag` writes for the same recording."""

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from mrac import Calibrator
from mrac.camera import Pose
from mrac.recordings.opened import Recording
from mrac.recordings.run import BagOptions, BagRun
from mrac.recordings.topics import candidates, choose
from mrac.recordings.transforms import TransformTree
from tests.e2e.ros2_stand_in import Buffer, Node, Replay, Said, ros2
from tests.mrac.recordings.bags import CAMERA, Sent, at, cloud, depth_bag, image, info, room, transform, write_bag

PACKAGE = Path(__file__).parents[2] / "examples" / "ros2" / "mrac_ros"
PARAMETERS = {"method": "cfa_ols", "foundation": "none"}


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem.partition(".")[0], path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def published(bag: Path, topics: dict[str, str], overrides: dict[str, Any], tree: TransformTree | None = None) -> Any:
    with ros2(tree or TransformTree(), {**PARAMETERS, **overrides}), Recording(bag) as recording:
        node = loaded(PACKAGE / "mrac_ros" / "depth_node.py").DepthNode()
        assert isinstance(node, Node)
        Replay(node, topics).play(recording)
        return node


def written(bag: Path, out: Path) -> dict[str, list[Any]]:
    with Recording(bag) as recording:
        run = BagRun(recording, choose(candidates(recording), None, (), None), BagOptions())
        run.run(Calibrator("cfa_ols", foundation="none"), out)
    found: dict[str, list[Any]] = {}
    with Recording(out) as recording:
        for message in recording.messages(list(recording.topics)):
            found.setdefault(message.topic.replace("/mrac/", "~/"), []).append(recording.decoded(message))
    return found


def same(a: Any, b: Any) -> bool:
    """Whether two messages have the same fields, of whichever type store."""
    if hasattr(a, "__dataclass_fields__"):
        return all(same(getattr(a, name), getattr(b, name)) for name in a.__dataclass_fields__)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(np.array_equal(a, b, equal_nan=getattr(a, "dtype", np.dtype("O")).kind == "f"))


def test_a_depth_camera_gives_what_the_recording_gives(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "in.mcap", depth_bag(3))
    topics = {"/cam/color/image_raw": "image", "/cam/depth/image_raw": "readings"}
    node = published(bag, {"/cam/color/camera_info": "camera_info", **topics}, {})
    expected = written(bag, tmp_path / "out.mcap")
    assert sorted({topic for topic, _ in node.published}) == sorted(expected)
    for topic, messages in expected.items():
        mine = [message for name, message in node.published if name == topic]
        assert len(mine) == len(messages) == 3
        assert all(map(same, mine, messages)), topic


def test_a_lidar_is_placed_by_tf_and_a_missing_transform_is_a_diagnostic(tmp_path: Path) -> None:
    forward = Pose(np.array([[0, -1, 0, 0.02], [0, 0, -1, 0.05], [1, 0, 0, 0], [0, 0, 0, 1]]))
    picture, z = room()
    v, u = (axis.ravel()[::7] for axis in np.mgrid[0:60, 0:80])
    xyz = forward.inverse().apply(CAMERA.unproject(np.stack([u, v], 1), z[v, u])).astype(np.float32)
    placed = transform(0, "cam", "lidar", forward)
    bag = write_bag(
        tmp_path / "in.mcap",
        [
            Sent("/image", at(0.1), image(at(0.1), "cam", picture)),
            Sent("/camera_info", at(0), info(at(0), "cam")),
            Sent("/lidar", at(0.11), cloud(at(0.11), "lidar", xyz)),
            Sent("/tf_static", at(0), placed),
        ],
    )
    topics = {"/image": "image", "/camera_info": "camera_info", "/lidar": "readings"}
    tree = TransformTree()
    tree.add(placed, static=True)
    node = published(bag, topics, {"readings": "cloud"}, tree)
    expected = written(bag, tmp_path / "out.mcap")
    assert {topic for topic, _ in node.published} == set(expected)
    mine = dict(node.published)
    np.testing.assert_allclose(
        mine["~/depth/image"].data.view("<f4"), expected["~/depth/image"][0].data.view("<f4"), rtol=1e-5
    )
    for overrides, said in (({}, "no transform from 'lidar' to 'cam'"), ({"fixed_frame": "odom"}, "odom")):
        ((topic, message),) = published(bag, topics, {"readings": "cloud", **overrides}).published
        assert topic == "~/diagnostics"
        assert message.status[0].level == 2
        assert said in message.status[0].message


def test_a_transform_that_comes_later_than_the_image_is_waited_for(tmp_path: Path) -> None:
    picture, z = room()
    v, u = (axis.ravel()[::7] for axis in np.mgrid[0:60, 0:80])
    xyz = CAMERA.unproject(np.stack([u, v], 1), z[v, u]).astype(np.float32)
    sent = [
        Sent("/camera_info", at(0), info(at(0), "cam")),
        Sent("/image", at(0.1), image(at(0.1), "cam", picture)),
        Sent("/lidar", at(0.11), cloud(at(0.11), "lidar", xyz)),
    ]
    topics = {"/image": "image", "/camera_info": "camera_info", "/lidar": "readings"}
    tree = TransformTree()
    tree.add(transform(at(0), "cam", "lidar", Pose.identity()), static=False)
    Buffer.late = [transform(at(0.2), "cam", "lidar", Pose.identity())]
    node = published(write_bag(tmp_path / "in.mcap", sent), topics, {"readings": "cloud"}, tree)
    assert "~/depth/image" in dict(node.published)


def test_drivers_of_best_effort_are_heard_on_every_topic(tmp_path: Path) -> None:
    with ros2(TransformTree(), PARAMETERS):
        node = loaded(PACKAGE / "mrac_ros" / "depth_node.py").DepthNode()
    assert node.qualities == dict.fromkeys(("image", "readings", "camera_info", "readings_camera_info"), "sensor data")


def test_a_camera_that_is_not_calibrated_is_logged(tmp_path: Path) -> None:
    zero = info(at(0), "cam")
    zero.k[:] = 0
    bag = write_bag(tmp_path / "in.mcap", [Sent("/camera_info", at(0), zero)])
    node = published(bag, {"/camera_info": "camera_info"}, {})
    assert node.published == []
    assert "K is 0" in node.logged[0]


def test_depth_of_another_view_needs_both_cameras_or_registered(tmp_path: Path) -> None:
    picture, z = room()
    sent = [
        Sent("/image", at(0), image(at(0), "cam", picture)),
        Sent("/depth", at(0.001), image(at(0), "ir", z.astype(np.float32), "32FC1")),
    ]
    bag, topics = write_bag(tmp_path / "in.mcap", sent), {"/image": "image", "/depth": "readings"}
    ((_, message),) = published(bag, topics, {}).published
    assert "`registered`" in message.status[0].message
    assert len(published(bag, topics, {"registered": True}).published) == 4


def test_the_camera_of_a_rectified_depth_image_is_p(tmp_path: Path) -> None:
    """As of `mrac bag`, which goes by the name of the depth image's topic."""
    picture, z = room()
    lens = info(at(0), "ir")
    lens.k = lens.k * np.array([0.7, 1, 1, 1, 0.7, 1, 1, 1, 1])
    lens.d = np.array([-0.3, 0.1, 0.0, 0.0, 0.0])
    placed = transform(0, "cam", "ir", Pose.identity())
    sent = [
        Sent("/camera_info", at(0), info(at(0), "cam")),
        Sent("/ir/camera_info", at(0), lens),
        Sent("/tf_static", at(0), placed),
        Sent("/image", at(0.1), image(at(0.1), "cam", picture)),
        Sent("/ir/image_rect", at(0.11), image(at(0.1), "ir", z.astype(np.float32), "32FC1")),
    ]
    bag, tree = write_bag(tmp_path / "in.mcap", sent), TransformTree()
    tree.add(placed, static=True)
    topics = {"/image": "image", "/camera_info": "camera_info", "/ir/image_rect": "readings"}
    node = published(bag, {**topics, "/ir/camera_info": "readings_camera_info"}, {"rectified_readings": True}, tree)
    (expected,) = written(bag, tmp_path / "out.mcap")["~/readings"]
    assert same(dict(node.published)["~/readings"], expected)


def test_the_package_holds_together() -> None:
    root = ET.fromstring((PACKAGE / "package.xml").read_text())
    assert root.findtext("name") == "mrac_ros"
    assert root.findtext("export/build_type") == "ament_python"
    setup = (PACKAGE / "setup.py").read_text()
    assert "depth_node = mrac_ros.depth_node:main" in setup
    for path in ("launch/depth.launch.py", "config/depth.yaml", "resource/mrac_ros"):
        assert (PACKAGE / path).is_file()
    stored = yaml.safe_load((PACKAGE / "config" / "depth.yaml").read_text())["mrac_depth"]["ros__parameters"]
    with ros2(TransformTree(), {}):
        module = loaded(PACKAGE / "mrac_ros" / "depth_node.py")
        assert stored == module.PARAMETERS
        module.DepthNode.overrides = PARAMETERS
        module.main()
        description = loaded(PACKAGE / "launch" / "depth.launch.py").generate_launch_description()
    (parts,) = description.args
    node = next(part for part in parts if type(part).__name__ == "LaunchNode")
    assert (node.fields["package"], node.fields["executable"], node.fields["name"]) == (
        "mrac_ros", "depth_node", "mrac_depth",
    )  # fmt: skip
    assert dict(node.fields["remappings"])["image"] == Said("image")
    needed = {element.text for element in root.findall("exec_depend")}
    assert {"rclpy", "message_filters", "tf2_ros", "sensor_msgs", "diagnostic_msgs", "launch_ros"} <= needed


def test_the_stand_in_is_as_strict_as_rclpy() -> None:
    with ros2(TransformTree(), {}):
        from sensor_msgs.msg import CompressedImage  # type: ignore[import-not-found]  # noqa: PLC0415
        from std_msgs.msg import Header  # type: ignore[import-not-found]  # noqa: PLC0415

        with pytest.raises(AssertionError):
            Header(frame_id="cam")
        with pytest.raises(AssertionError):
            CompressedImage(header=None, format="png", data=np.zeros(3, np.uint8))
