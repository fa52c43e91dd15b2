"""What is computed beside the network is what would be computed after it."""

import numpy as np
import pytest

from mrac import Anchors, Calibrator
from mrac.anchors._validity import usable
from mrac.beforehand import Beforehand
from mrac.examples import load
from mrac.gp.features import ImageAppearance
from mrac.runtime import onnx_session, parallel


def same(one: Anchors, other: Anchors) -> bool:
    return np.array_equal(one.uv_px, other.uv_px) and np.array_equal(one.z_m, other.z_m)


def test_usable_anchors_are_those_where_relative_depth_has_a_value() -> None:
    frame = load("room")
    shape = frame.image.shape[:2]
    ahead, everywhere = Beforehand(frame.image, frame.anchors), np.ones(shape, bool)
    holes = everywhere.copy()
    u, v = frame.anchors.uv_px[0].astype(int)
    holes[v - 2 : v + 3, u - 2 : u + 3] = False
    for has_value in (None, everywhere, holes):
        found, wanted = ahead.used(has_value), usable(frame.anchors, shape, has_value)
        assert same(found.readings, wanted.readings)
        np.testing.assert_array_equal(found.reason, wanted.reason)
    assert ahead.used(holes).reason[0] == "no_relative_value"


@pytest.mark.parametrize("method", ["fast", "cfa_ols"])
def test_the_number_of_cores_changes_nothing(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one core nothing is computed beside the network."""
    frame, kept = load("room"), []
    seen = ImageAppearance.__init__

    def spy(self: ImageAppearance, *given: np.ndarray) -> None:
        seen(self, *given)
        kept.append(self.kept)

    monkeypatch.setattr(ImageAppearance, "__init__", spy)
    depths = []
    for cores in (1, 2):
        for module in (parallel, onnx_session):
            monkeypatch.setattr(module, "num_cores", lambda cores=cores: cores)
        depths.append(Calibrator(method)(frame.image, frame.anchors).depth_m)
    np.testing.assert_array_equal(depths[0], depths[1])
    assert [len(one) for one in kept] == ([0, 1] if method == "fast" else [0, 0])
