"""A recording of `mrac bag` as frames for the viewer: the same values as were written."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError
from mrac.recordings.run import BagOptions
from mrac.view.open import frames_of
from tests.mrac.recordings.bags import CAMERA, depth_bag, room, write_bag
from tests.mrac.recordings.test_run import FAST, IMAGE, run_bag


def test_a_recording_is_shown_as_it_was_calibrated(tmp_path: Path) -> None:
    run_bag(write_bag(tmp_path / "in.mcap", depth_bag(3)), tmp_path / "out.mcap", BagOptions(copy=(IMAGE,)))
    frames = list(frames_of(tmp_path / "out.mcap"))
    assert len(frames) == 3
    for i, frame in enumerate(frames):
        picture, z = room(i)
        anchors = Anchors.from_depth_map(np.rint(1000 * z).astype(np.uint16), scale="mm", max_anchors=500)
        out = Calibrator(**FAST)(picture, anchors)
        np.testing.assert_array_equal(frame.depth_m, out.depth_m)
        np.testing.assert_array_equal(frame.sigma_m, out.sigma_m)
        np.testing.assert_array_equal(frame.image, picture)
        assert frame.camera == CAMERA
        assert frame.readings is not None
        np.testing.assert_allclose(frame.readings.uv_px, anchors.uv_px)
        np.testing.assert_allclose(frame.readings.z_m, anchors.z_m, rtol=1e-6)
        np.testing.assert_array_equal(frame.readings.keep, out.anchors.keep)
        np.testing.assert_array_equal(frame.readings.reason, out.anchors.reason)
        assert frame.notes == ()
    times: list[Any] = [frame.time_ns for frame in frames]
    assert times == sorted(times)
    assert times[0] is not None


def test_without_the_image_a_word_says_how_to_get_it(tmp_path: Path) -> None:
    run_bag(write_bag(tmp_path / "in.mcap", depth_bag(1)), tmp_path / "out.mcap")
    (frame,) = frames_of(tmp_path / "out.mcap")
    assert frame.image is None
    assert any("`mrac bag --copy TOPIC` writes it" in note for note in frame.notes)
    with pytest.raises(ContractError, match="no images under '/x'; there are none"):
        list(frames_of(tmp_path / "out.mcap", image_topic="/x"))


def test_another_recording_is_refused(tmp_path: Path) -> None:
    path = write_bag(tmp_path / "in.mcap", depth_bag(1))
    with pytest.raises(ContractError, match=r"in\.mcap: no results of `mrac bag`; a recording that"):
        list(frames_of(path))
    with pytest.raises(ContractError, match=r"are for results; .* is a recording"):
        frames_of(path, image=path)
    np.savez(tmp_path / "a.npz", depth_m=np.ones((2, 2)))
    with pytest.raises(ContractError, match="--image-topic is for a recording"):
        frames_of(tmp_path / "a.npz", image_topic="/x")


def test_after_a_clock_that_was_set_back_every_frame_is_whole(tmp_path: Path) -> None:
    sent = depth_bag(40)
    for one in sent[-9:]:  # of the last three frames, as of a simulation that was started again
        one.message.header.stamp.sec -= 1000
    run_bag(write_bag(tmp_path / "in.mcap", sent), tmp_path / "out.mcap", BagOptions(copy=(IMAGE,)))
    frames = list(frames_of(tmp_path / "out.mcap"))
    assert len(frames) == 40
    assert all(frame.image is not None and frame.sigma_m is not None and frame.readings is not None for frame in frames)


def test_images_without_a_stamp_are_found_by_their_time_of_recording(tmp_path: Path) -> None:
    sent = depth_bag(2)
    for one in sent:
        one.message.header.stamp.sec = one.message.header.stamp.nanosec = 0
    run_bag(write_bag(tmp_path / "in.mcap", sent), tmp_path / "out.mcap", BagOptions(copy=(IMAGE,)))
    frames = list(frames_of(tmp_path / "out.mcap"))
    assert [frame.image is not None for frame in frames] == [True, True]
