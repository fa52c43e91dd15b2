"""Recordings as input of a batch job: each frame is what the library makes of it, and done once."""

import json
from pathlib import Path

import numpy as np
import pytest

from mrac import Anchors, Calibrator
from mrac.batch_jobs.executors import Resources
from mrac.batch_jobs.readings import Readings
from mrac.batch_jobs.run import list_frames, make_job, run_job
from mrac.batch_jobs.stages import perform
from mrac.errors import ContractError
from tests.e2e.test_cli import mrac_here
from tests.mrac.recordings.bags import CAMERA, Sent, at, depth_bag, room, scan, write_bag


@pytest.mark.parametrize("name", ["in.mcap", "in.bag", "folder"])
def test_frames_of_a_recording(name: str, tmp_path: Path) -> None:
    calibrator = Calibrator("cfa_ols", foundation="none")
    frames = list_frames([write_bag(tmp_path / name, depth_bag(4))])
    assert [frame.id for frame in frames] == [f"{i:06d}_1700000000.{i}00000000" for i in range(4)]
    job = make_job(calibrator, tmp_path / "out")
    summary = run_job(job, frames[::-1], "local", Resources(workers=1)) if name == "in.mcap" else None
    if summary is None:  # the executors are tested elsewhere: here, what a worker does
        (tmp_path / "out" / ".batch" / "parts").mkdir(parents=True)
        assert [perform(job, frame).action for frame in frames] == ["computed"] * 4
    else:
        assert summary.actions == {"computed": 4}
        assert run_job(job, frames, "local", Resources(workers=1)).actions == {"kept": 4}
    for i, frame in enumerate(frames):
        picture, z = room(i)
        anchors = Anchors.from_depth_map(np.rint(1000 * z).astype(np.uint16), scale="mm", max_anchors=500)
        expected = calibrator(picture, anchors, camera=CAMERA)
        with np.load(tmp_path / "out" / f"{frame.id}.npz") as stored:
            np.testing.assert_allclose(stored["depth_m"], expected.depth_m, rtol=1e-6)
            np.testing.assert_array_equal(stored["keep"], expected.anchors.keep)


def test_what_is_not_clear_or_missing_is_said(tmp_path: Path) -> None:
    laser = scan(at(0), "laser", np.array([0.0, 0.1]), np.array([1.0, 1.0]))
    bag = write_bag(tmp_path / "in.mcap", [*depth_bag(2), Sent("/scan", at(0), laser)])
    with pytest.raises(ContractError, match="2 topics fit"):
        list_frames([bag])
    assert len(list_frames([bag], kind="depth")) == 2
    (frame,) = list_frames([bag], kind="scan")
    job = make_job(Calibrator("cfa_ols", foundation="none"), tmp_path / "out", Readings(kind="scan"))
    outcome = perform(job, frame)
    assert outcome.action == "failed"
    assert "no way from the frame 'laser' to 'cam'" in outcome.record.error


def test_the_command(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "in.mcap", depth_bag(2))
    words = ("--method", "cfa_ols", "--foundation", "none", "--workers", "1", "--json")
    done = mrac_here("batch", bag, "--out", tmp_path / "out", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["actions"] == {"computed": 2}
