"""A recording in, a recording out: every value against the library's own result, and runs that end halfway."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac import Anchors, Calibrator
from mrac.camera import Camera, Pose
from mrac.errors import ContractError
from mrac.recordings.decode import Geometry
from mrac.recordings.frames import Window
from mrac.recordings.journal import Entry, Journal
from mrac.recordings.opened import Recording
from mrac.recordings.outputs import REASON_CODES, millimetres
from mrac.recordings.points import structured
from mrac.recordings.run import JOURNAL, BagOptions, BagRun
from mrac.recordings.topics import candidates, choose, is_rectified
from mrac.video import VideoCalibrator
from tests.mrac.recordings.bags import (
    CAMERA,
    CLASSES,
    Sent,
    at,
    cloud,
    depth_bag,
    distance,
    header,
    image,
    info,
    room,
    scan,
    transform,
    write_bag,
)  # fmt: skip

FAST: Any = {"method": "cfa_ols", "foundation": "none"}
GOOD = "no_relative_depth"  # the status of that
IMAGE, DEPTH = "/cam/color/image_raw", "/cam/depth/image_raw"


def run_bag(path: Path, out: Path, options: BagOptions | None = None, **named: Any) -> list[dict[str, Any]]:
    """Runs it and gives what the frames said of themselves."""
    told: list[dict[str, Any]] = []
    with Recording(path) as recording:
        chosen = choose(candidates(recording), named.get("image"), named.get("readings", ()), named.get("info"))
        run = BagRun(recording, chosen, options or BagOptions())
        run.run(named.get("calibrator") or Calibrator(**FAST), out, told.append, restart=named.get("restart", False))
    return told


def written(out: Path) -> dict[str, list[tuple[int, Any]]]:
    """By topic, the times and messages of a recording."""
    found: dict[str, list[tuple[int, Any]]] = {}
    with Recording(out) as recording:
        for message in recording.messages(list(recording.topics)):
            found.setdefault(message.topic, []).append((message.log_ns, recording.decoded(message)))
    return found


def pixels(message: Any, dtype: str) -> Any:
    return message.data.view(dtype).reshape(message.height, message.width)


@pytest.mark.parametrize("name", ["in.mcap", "in.bag", "folder", "in.db3"])
def test_what_comes_out_is_the_librarys_own_result_to_the_bit(name: str, tmp_path: Path) -> None:
    out, num = tmp_path / "out.mcap", 4
    told = run_bag(write_bag(tmp_path / name, depth_bag(num)), out)
    assert [one["status"] for one in told] == [GOOD] * num
    found = written(out)
    assert sorted(found) == [
        "/mrac/depth/camera_info", "/mrac/depth/image", "/mrac/depth/image_mm", "/mrac/depth/sigma",
        "/mrac/diagnostics", "/mrac/points", "/mrac/readings",
    ]  # fmt: skip
    assert not (tmp_path / "out.mcap.part").exists()
    for i in range(num):
        picture, z = room(i)
        anchors = Anchors.from_depth_map(np.rint(1000 * z).astype(np.uint16), scale="mm", max_anchors=500)
        expected = Calibrator(**FAST)(picture, anchors, camera=CAMERA)
        messages = {topic: each[i][1] for topic, each in found.items()}
        assert {each[i][0] for each in found.values()} == {at(i / 10) + 1_000_000}, "the image's time of recording"
        for message in messages.values():
            stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
            assert (stamp, message.header.frame_id) == (at(i / 10), "cam")
        np.testing.assert_array_equal(pixels(messages["/mrac/depth/image"], "<f4"), expected.depth_m)
        np.testing.assert_array_equal(pixels(messages["/mrac/depth/sigma"], "<f4"), expected.sigma_m)
        np.testing.assert_array_equal(
            pixels(messages["/mrac/depth/image_mm"], "<u2"), np.rint(expected.depth_m.astype(np.float64) * 1000)
        )
        np.testing.assert_array_equal(messages["/mrac/depth/camera_info"].k.reshape(3, 3), CAMERA.matrix)
        points = structured(messages["/mrac/points"])
        cloud_of = expected.points(CAMERA, image=picture, stride=4)
        np.testing.assert_array_equal(np.stack([points[n] for n in "xyz"], 1), cloud_of.xyz_m.astype(np.float32))
        colours = points["rgb"].view(np.uint32)
        np.testing.assert_array_equal(np.stack([colours >> 16, colours >> 8 & 255, colours & 255], 1), cloud_of.rgb)
        readings = structured(messages["/mrac/readings"])
        np.testing.assert_array_equal(readings["keep"].astype(bool), expected.anchors.keep)
        np.testing.assert_array_equal(readings["z"], anchors.z_m.astype(np.float32))
        assert [REASON_CODES[word] for word in expected.anchors.reason] == readings["reason"].tolist()
        (status,) = messages["/mrac/diagnostics"].status
        values = {pair.key: pair.value for pair in status.values}
        assert (status.level, values["status"], values["readings"]) == (1, GOOD, str(len(anchors)))


def test_a_cloud_a_scan_and_a_range_through_transforms(tmp_path: Path) -> None:
    forward = Pose(np.array([[0, -1, 0, 0.02], [0, 0, -1, 0.05], [1, 0, 0, 0], [0, 0, 0, 1]]))  # camera from base
    still, moved = np.eye(4), np.eye(4)
    moved[0, 3] = 1.0  # odom from base, one second later: 1 m/s forward
    picture, z = room()
    v, u = (axis.ravel()[::7] for axis in np.mgrid[0:60, 0:80])
    xyz = forward.inverse().apply(CAMERA.unproject(np.stack([u, v], 1), z[v, u])).astype(np.float32)
    angles = np.linspace(-0.4, 0.4, 21, dtype=np.float32)
    laser = np.full(21, 3.0, np.float32)
    sent = [
        Sent("/image", at(0.5), image(at(0.5), "camera", picture)),
        Sent("/camera_info", at(0.5), info(at(0.5), "camera")),
        Sent("/lidar", at(0.48), cloud(at(0.48), "base", xyz)),
        Sent("/scan", at(0.49), scan(at(0.49), "base", angles, laser)),
        Sent("/sonar", at(0.49), distance(at(0.49), "base", 1.6)),
        Sent("/tf_static", at(0.9), transform(0, "camera", "base", forward)),
        Sent("/tf", at(0), transform(at(0), "odom", "base", Pose(still))),
        Sent("/tf", at(1), transform(at(1), "odom", "base", Pose(moved))),
    ]
    path = write_bag(tmp_path / "in.mcap", sent)
    sensors = (("cloud", "/lidar"), ("scan", "/scan"), ("range", "/sonar"))
    run_bag(path, tmp_path / "all.mcap", readings=sensors)
    expected = [
        Anchors.from_point_cloud(xyz.astype(np.float64), CAMERA, forward, max_anchors=500),
        Anchors.from_laser_scan(
            laser.astype(np.float64), CAMERA, forward, angle_min=float(angles[0]),
            angle_increment=float(np.float32(angles[1] - angles[0])), range_max=20.0,
        ),
        Anchors.from_laser_scan(np.array([np.float32(1.6)]), CAMERA, forward, angles=[0.0]),
    ]  # fmt: skip
    ((_, message),) = written(tmp_path / "all.mcap")["/mrac/readings"]
    z_m = np.concatenate([each.z_m for each in expected]).astype(np.float32)
    np.testing.assert_allclose(structured(message)["z"], z_m, rtol=1e-6)
    # Through odom, the lidar's points are 20 ms older than the image: the base has come 2 cm nearer to them since.
    through = BagOptions(geometry=Geometry(fixed_frame="odom"))
    run_bag(path, tmp_path / "fixed.mcap", through, readings=sensors[:1])
    ((_, message),) = written(tmp_path / "fixed.mcap")["/mrac/readings"]
    later = Anchors.from_point_cloud(xyz.astype(np.float64) - [0.02, 0, 0], CAMERA, forward, max_anchors=500)
    np.testing.assert_allclose(np.sort(structured(message)["z"]), np.sort(later.z_m), atol=1e-5)
    given = BagOptions(geometry=Geometry(pose=forward))
    assert run_bag(path, tmp_path / "given.mcap", given, readings=sensors[:1])[0]["status"] == GOOD
    with pytest.raises(ContractError, match=r"'base' to 'map'|'base' to 'camera'"):
        run_bag(path, tmp_path / "no.mcap", BagOptions(geometry=Geometry(fixed_frame="map")), readings=sensors[:1])


def test_depth_of_another_camera_is_registered_and_needs_its_place(tmp_path: Path) -> None:
    other = Camera(30.0, 30.0, 19.5, 14.5, 40, 30)
    beside = Pose(np.eye(4) + 0.05 * np.eye(4, k=3))
    picture, _ = room()
    z = np.full((30, 40), 2.0, np.float32)
    sent = [
        Sent("/c/image", at(0), image(at(0), "camera", picture)),
        Sent("/c/camera_info", at(0), info(at(0), "camera")),
        Sent("/d/image", at(0), image(at(0), "depth", z, "32FC1")),
    ]
    path = write_bag(tmp_path / "bare.mcap", sent)
    with pytest.raises(ContractError, match=r"'depth'.*'camera'.*--registered"):
        run_bag(path, tmp_path / "no.mcap")
    told = run_bag(path, tmp_path / "same.mcap", BagOptions(geometry=Geometry(registered=True)))
    assert told[0]["kept"] == len(Anchors.from_depth_map(z, image_size=(80, 60), max_anchors=500))
    sent.append(Sent("/d/camera_info", at(0), info(at(0), "depth", other)))
    with pytest.raises(ContractError, match="no way from the frame 'depth' to 'camera'"):
        run_bag(write_bag(tmp_path / "camera.mcap", sent), tmp_path / "no.mcap")
    sent.append(Sent("/tf_static", at(0), transform(0, "camera", "depth", beside)))
    run_bag(write_bag(tmp_path / "all.mcap", sent), tmp_path / "out.mcap")
    ((_, message),) = written(tmp_path / "out.mcap")["/mrac/readings"]
    expected = Anchors.from_depth_map(z, camera=CAMERA, depth_camera=other, pose=beside, max_anchors=500)
    np.testing.assert_array_equal(structured(message)["u"], expected.uv_px[:, 0].astype(np.float32))


def test_a_run_that_ends_anywhere_goes_on_and_the_output_is_the_same(tmp_path: Path) -> None:
    path, out, num = write_bag(tmp_path / "in.mcap", depth_bag(6)), tmp_path / "out.mcap", 6
    run_bag(path, tmp_path / "whole" / "out.mcap")
    expected = (tmp_path / "whole" / "out.mcap").read_bytes()
    rng, skipped = random.Random(1), []
    for _ in range(4):
        out.unlink(missing_ok=True)
        with pytest.raises(KeyboardInterrupt):
            _stopped_after(path, out, rng.randrange(1, num))
        journal = tmp_path / "out.mcap.part" / JOURNAL
        stored = journal.read_bytes()
        # As a kill within a write leaves it: any number of its bytes; the first record, the options, is 1 kB here.
        journal.write_bytes(stored[: rng.randrange(0, len(stored) + 1)])
        told = run_bag(path, out)
        assert len(told) == num
        assert len({one["frame"] for one in told}) == num
        skipped.append(sum("skipped" in one for one in told))
        assert out.read_bytes() == expected
        assert not (tmp_path / "out.mcap.part").exists()
    assert any(skipped)


def _stopped_after(path: Path, out: Path, num: int) -> None:
    told: list[Any] = []

    def report(about: dict[str, Any]) -> None:
        told.append(about)
        if len(told) >= num:
            raise KeyboardInterrupt

    with Recording(path) as recording:
        run = BagRun(recording, choose(candidates(recording), None, (), None), BagOptions())
        run.run(Calibrator(**FAST), out, report)


def test_frames_that_a_failing_disk_kept_back_are_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = write_bag(tmp_path / "in.mcap", depth_bag(6)), tmp_path / "out.mcap"
    with Recording(path) as recording:
        run = BagRun(recording, choose(candidates(recording), None, (), None), BagOptions())
        whole = recording._reader.messages

        def failing(*args: Any, **named: Any) -> Any:
            for number, message in enumerate(whole(*args, **named)):
                if number == 7:
                    raise OSError(5, "Input/output error")
                yield message

        monkeypatch.setattr(recording._reader, "messages", failing)
        with pytest.raises(ContractError, match=r"read to frame 3 of 6 only .*Input/output error.*are kept"):
            run.run(Calibrator(**FAST), out)
    assert not out.exists()
    assert [one.get("skipped", False) for one in run_bag(path, out)] == [True] * 3 + [False] * 3
    assert len(written(out)["/mrac/depth/image"]) == 6


def test_other_options_and_a_second_run_are_refused(tmp_path: Path) -> None:
    path, out = write_bag(tmp_path / "in.mcap", depth_bag(4)), tmp_path / "out.mcap"
    with pytest.raises(KeyboardInterrupt):
        _stopped_after(path, out, 2)
    with pytest.raises(ContractError, match=r"other options \(cloud_stride\).*--restart"):
        run_bag(path, out, BagOptions(cloud_stride=2))
    with pytest.raises(ContractError, match=r"other options \(method\)"):
        run_bag(path, out, calibrator=Calibrator("cfa_huber", foundation="none"))
    with Recording(path) as recording:
        run = BagRun(recording, choose(candidates(recording), None, (), None), BagOptions())
        options = run._told(Calibrator(**FAST))
    with Journal(tmp_path / "out.mcap.part" / JOURNAL, options), pytest.raises(ContractError, match="another run"):
        run_bag(path, out)
    assert sum("skipped" in one for one in run_bag(path, out)) == 2
    with pytest.raises(ContractError, match="there already; --restart"):
        run_bag(path, out)
    out.with_name("out.mcap.part").mkdir()  # by a kill while the journal was taken away: nothing is done again
    with pytest.raises(ContractError, match="there already; --restart"):
        run_bag(path, out)
    assert not out.with_name("out.mcap.part").exists()
    assert len(run_bag(path, out, restart=True)) == 4
    with pytest.raises(ContractError, match="overwrite the input"):
        run_bag(path, path)
    with pytest.raises(ContractError, match=r"ends in \.mcap"):
        run_bag(path, tmp_path / "out.bag")


def test_a_video_is_the_video_calibrators_and_goes_on_after_a_stop(tmp_path: Path) -> None:
    path, out, options = write_bag(tmp_path / "in.mcap", depth_bag(5)), tmp_path / "out.mcap", BagOptions(video=True)
    told: list[Any] = []

    def report(about: dict[str, Any]) -> None:
        told.append(about)
        if len(told) == 3:
            raise KeyboardInterrupt

    with Recording(path) as recording, pytest.raises(KeyboardInterrupt):
        BagRun(recording, choose(candidates(recording), None, (), None), options).run(Calibrator(**FAST), out, report)
    assert [("skipped" in one) for one in run_bag(path, out, options)] == [True, True, True, False, False]
    video = VideoCalibrator(Calibrator(**FAST), camera=CAMERA)
    for i, (_, message) in enumerate(written(out)["/mrac/depth/image"]):
        picture, z = room(i)
        anchors = Anchors.from_depth_map(np.rint(1000 * z).astype(np.uint16), scale="mm", max_anchors=500)
        expected = video(picture, anchors, time_s=at(i / 10) / 1e9)
        np.testing.assert_array_equal(pixels(message, "<f4"), expected.depth_m)


def test_which_images_are_taken_and_what_has_no_partner(tmp_path: Path) -> None:
    path = write_bag(tmp_path / "in.mcap", depth_bag(20, every=2))
    with Recording(path) as recording:
        chosen = choose(candidates(recording), None, (), None)
        assert chosen.notes == (f"--image-topic {IMAGE}: the only one", f"--depth-topic {DEPTH}: the only one")
        run = BagRun(recording, chosen, BagOptions())
        assert len(run) == 10
        assert run.notes == [f"10 images of {IMAGE} have no readings within 0.02 s: left out"]
        run = BagRun(recording, chosen, BagOptions(window=Window(start_s=0.5, end_s=1.5, every=3, slop_s=0.11)))
        assert (run.plan.images.tolist(), run.notes) == ([5, 8, 11, 14], []), "others belong to images not asked for"
        with pytest.raises(ContractError, match=r"no image has readings within 0\.001 s \(the nearest is 0\.003 s"):
            BagRun(recording, chosen, BagOptions(window=Window(slop_s=0.001)))
        with pytest.raises(ContractError, match=r"from 5 s on; it lasts 1\.900 s"):
            BagRun(recording, chosen, BagOptions(window=Window(start_s=5)))
        with pytest.raises(ContractError, match=r"from 1 s to 0\.5 s; it lasts 1\.900 s"):
            BagRun(recording, chosen, BagOptions(window=Window(start_s=1, end_s=0.5)))


def test_readings_of_an_image_that_is_missing_are_counted_whichever_images_are_asked_for(tmp_path: Path) -> None:
    path = write_bag(tmp_path / "in.mcap", [one for i, one in enumerate(depth_bag(6)) if i not in (6, 9)])
    with Recording(path) as recording:
        chosen = choose(candidates(recording), None, (), None)
        for window in (Window(), Window(every=2), Window(end_s=0.1)):
            run = BagRun(recording, chosen, BagOptions(window=window))
            assert run.notes == [f"2 messages of {DEPTH} belong to no image within 0.02 s"]


def test_header_stamps_count_not_the_order_of_recording(tmp_path: Path) -> None:
    """Readings were recorded 0.5 s after the images, and unstamped messages count by that time."""
    sent = [
        Sent(one.topic, one.log_ns + (500_000_000 if "depth" in one.topic else 0), one.message) for one in depth_bag(12)
    ]
    path = write_bag(tmp_path / "late.mcap", sent)
    run_bag(path, tmp_path / "late_out.mcap")
    run_bag(write_bag(tmp_path / "in.mcap", depth_bag(12)), tmp_path / "out.mcap")
    assert (tmp_path / "late_out.mcap").read_bytes()[40:] != b""
    late, usual = written(tmp_path / "late_out.mcap"), written(tmp_path / "out.mcap")
    for (_, a), (_, b) in zip(late["/mrac/depth/image"], usual["/mrac/depth/image"], strict=True):
        np.testing.assert_array_equal(a.data, b.data)
    picture, z = room()
    bare = [
        Sent("/image", at(1), image(0, "cam", picture)),
        Sent("/depth", at(1.01), image(0, "cam", z.astype(np.float32), "32FC1")),
    ]
    with Recording(write_bag(tmp_path / "bare.mcap", bare)) as recording:
        run = BagRun(recording, choose(candidates(recording), None, (), None), BagOptions())
        assert "1 messages of /image have no stamp: the time of recording is used" in run.notes
        assert "no camera of /image: no camera_info, points and readings are written" in run.notes
        run.run(Calibrator(**FAST), tmp_path / "bare_out.mcap")
    found = written(tmp_path / "bare_out.mcap")
    assert sorted(found) == ["/mrac/depth/image", "/mrac/depth/image_mm", "/mrac/depth/sigma", "/mrac/diagnostics"]


def test_cameras_without_stamps_hold_from_the_time_they_were_recorded_at(tmp_path: Path) -> None:
    sent = depth_bag(2)
    wide = Camera(50.0, 50.0, 39.5, 29.5, 80, 60)
    sent[4] = Sent(sent[4].topic, sent[4].log_ns, info(0, "cam", wide))
    sent[1].message.header.stamp.sec = sent[1].message.header.stamp.nanosec = 0
    for i in (0, 2, 3, 5):
        sent[i].message.header.stamp.sec = sent[i].message.header.stamp.nanosec = 0
    run_bag(write_bag(tmp_path / "in.mcap", sent), tmp_path / "out.mcap")
    found = [message.k[0] for _, message in written(tmp_path / "out.mcap")["/mrac/depth/camera_info"]]
    assert found == [60.0, 50.0]


def test_a_frame_that_fails_is_in_the_diagnostics_and_the_others_are_done(tmp_path: Path) -> None:
    sent = depth_bag(3)
    picture, _ = room()
    for i, one in enumerate(sent):
        if one.topic == IMAGE and one.log_ns > at(0.05) and one.log_ns < at(0.15):
            sent[i] = Sent(one.topic, one.log_ns, image(at(0.1), "cam", picture, "yuv422"))
    told = run_bag(write_bag(tmp_path / "in.mcap", sent), tmp_path / "out.mcap")
    assert [one.get("status", "failed") for one in told] == [GOOD, "failed", GOOD]
    found = written(tmp_path / "out.mcap")
    assert [len(found[topic]) for topic in ("/mrac/depth/image", "/mrac/diagnostics")] == [2, 3]
    (status,) = found["/mrac/diagnostics"][1][1].status
    assert status.level == 2
    assert "yuv422" in status.message


@pytest.mark.parametrize("name", ["in.mcap", "in.bag"])
def test_topics_of_the_input_are_copied(name: str, tmp_path: Path) -> None:
    sent = [*depth_bag(3), Sent("/tf_static", at(0.05), transform(0, "base", "cam", Pose.identity()))]
    options = BagOptions(
        copy=(IMAGE, "/cam/color/camera_info", "/tf_static"), compression="none", prefix="depth/of/cam"
    )
    run_bag(write_bag(tmp_path / name, sent), tmp_path / "out.mcap", options)
    found = written(tmp_path / "out.mcap")
    images = [one for one in sent if one.topic == IMAGE]
    assert [log for log, _ in found[IMAGE]] == [one.log_ns for one in images]
    for (_, message), one in zip(found[IMAGE], images, strict=True):
        np.testing.assert_array_equal(message.data, one.message.data)
        assert repr(message.header) == repr(one.message.header)
    np.testing.assert_array_equal(found["/cam/color/camera_info"][0][1].k, CAMERA.matrix.ravel())
    assert found["/tf_static"][0][1].transforms[0].child_frame_id == "cam"
    assert "/depth/of/cam/depth/image" in found
    with Recording(tmp_path / name) as recording, pytest.raises(ContractError, match="--copy /nothing"):
        BagRun(recording, choose(candidates(recording), None, (), None), BagOptions(copy=("/nothing",)))


def test_topics_that_are_not_clear_are_asked_for(tmp_path: Path) -> None:
    picture, z = room()
    sent = [
        Sent("/left/image", at(0), image(at(0), "l", picture)),
        Sent("/right/image", at(0), image(at(0), "r", picture)),
        Sent("/scan", at(0), scan(at(0), "laser", np.array([0.0, 0.1]), np.array([1.0, 1.0]))),
        Sent("/depth", at(0), image(at(0), "l", z.astype(np.float32), "32FC1")),
    ]
    with Recording(write_bag(tmp_path / "in.mcap", sent)) as recording:
        found = candidates(recording)
    assert {one.name: one.use for one in found} == {
        "/left/image": "image", "/right/image": "image", "/scan": "scan", "/depth": "depth",
    }  # fmt: skip
    with pytest.raises(ContractError, match=r"--image-topic is needed: 2 topics fit, /left/image \(image\), /right"):
        choose(found, None, (), None)
    with pytest.raises(ContractError, match=r"--range-topic is needed: 2 topics fit, /depth \(depth\), /scan \(scan\)"):
        choose(found, "/left/image", (), None)
    with pytest.raises(ContractError, match="--scan-topic /depth: it is of sensor_msgs/msg/Image"):
        choose(found, "/left/image", [("scan", "/depth")], None)
    with pytest.raises(ContractError, match="--image-topic /middle: no such topic; there are /depth"):
        choose(found, "/middle", (), None)
    with (
        Recording(tmp_path / "in.mcap") as recording,
        pytest.raises(ContractError, match=r"camera of /left/image.*--camera"),
    ):
        BagRun(recording, choose(found, "/left/image", [("scan", "/scan")], None), BagOptions())


def test_sixteen_bits_hold_what_rep_118_says() -> None:
    assert millimetres(np.array([[0.0001, 1.2345, 65.535, 65.536, 400.0]])).tolist() == [[1, 1234, 65535, 0, 0]]


@pytest.mark.parametrize(
    ("topic", "rectified"),
    [
        ("/cam/image_rect", True), ("/cam/image_rect_color/compressed", True), ("/depth/image_rect_raw", True),
        ("/cam/rectified", True), ("/cam/image_raw", False), ("/cam/image_corrected", False), ("/direct", False),
    ],
)  # fmt: skip
def test_rectified_is_a_word_of_the_topics_name(topic: str, rectified: bool) -> None:
    assert is_rectified(topic) is rectified


def test_a_journal_gives_back_what_it_got(tmp_path: Path) -> None:
    entries = [Entry({"frame": str(i)}, [("/a", bytes(i)), ("/b", b"x" * i)]) for i in range(4)]
    with Journal(tmp_path / "j", {"a": (1, 2)}) as journal:
        for entry in entries:
            journal.add(entry)
    seen: list[Any] = []
    with Journal(tmp_path / "j", {"a": [1, 2]}, seen.append) as journal:
        assert [(e.about, e.messages) for e in journal.entries()] == [(e.about, e.messages) for e in entries]
        assert (journal.num_entries, seen) == (4, [entry.about for entry in entries])


def test_a_header_of_ours_is_whole() -> None:
    made = header(at(1.5), "cam")
    assert (made.stamp.sec, made.stamp.nanosec, made.frame_id) == (1_700_000_001, 500_000_000, "cam")
    assert CLASSES.constant("diagnostic_msgs/msg/DiagnosticStatus", "WARN") == 1
