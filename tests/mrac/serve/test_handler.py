"""Batches give what single calls give."""

import numpy as np
import pytest

from mrac import Calibrator, MetricDepth
from mrac.errors import ContractError
from mrac.http import Frame, Offer, read_frame
from mrac.serve.handler import Handler, Job
from mrac.serve.settings import Settings
from tests.mrac.http.frames import ANCHORS, IMAGE, png, submission
from tests.mrac.serve.running import LIMITS


def frame(**given: str) -> Frame:
    return read_frame(submission(**given), LIMITS)  # type: ignore[arg-type]


def test_a_batch_of_mixed_frames_is_what_each_call_gives() -> None:
    handler = Handler(Settings(offer=Offer(method="nearest"), limits=LIMITS))
    small = read_frame(submission(image=png(IMAGE[:20])), LIMITS)
    outside = read_frame(submission(b"[[999, 999, 1]]"), LIMITS)
    frames = [frame(), small, frame(method="delaunay"), outside, frame(), frame(fix="units"), frame(sensor="realsense")]
    done = handler.batch(frames, 2)
    assert isinstance(done[3], ContractError)
    assert "none of the 1 is usable" in str(done[3])
    assert "stream" not in str(done[3])
    for given, one in zip(frames, done, strict=True):
        if isinstance(one, tuple):
            result, anchors = one
            assert isinstance(result, MetricDepth)
            own = Calibrator(given.choices.method or "nearest")(given.image, anchors)
            assert np.array_equal(result.depth_m, own.depth_m)
            assert np.array_equal(result.sigma_m, own.sigma_m)
    assert isinstance(done[6], tuple)
    assert done[6][1].sigma_m is not None
    assert isinstance(done[0], tuple)
    assert done[0][1].z_m.tolist() == ANCHORS.z_m.tolist()
    assert handler.batch([]) == []


def test_maps_that_there_are_not_are_refused_before_anything_is_decoded() -> None:
    handler = Handler(Settings(limits=LIMITS))
    with pytest.raises(ContractError, match=r"^maps: 'colour'"):
        handler.decode(Job(submission(image=b"no picture", maps="colour"), "*/*", "id"))
