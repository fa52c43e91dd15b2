import json
from pathlib import Path

import numpy as np
import pytest

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.lab.studies import zones
from tests.lab.packs import scene, write_pack


def test_readings_of_zones_are_means_at_their_centres() -> None:
    truth = np.ones((16, 24))
    truth[:2, :3] = 3.0
    truth[0, 0] = 0.0
    out = zones.zone_readings(truth, 8, "areas")
    assert out.extent_px is not None
    np.testing.assert_allclose(out.extent_px, np.tile([3.0, 2.0], (64, 1)))
    first = np.flatnonzero((out.uv_px == [1.0, 0.5]).all(axis=1))
    np.testing.assert_allclose(out.z_m[first], [3.0])
    assert zones.zone_readings(truth, 8, "as_given").extent_px is None


def test_with_exact_relative_depth_areas_have_far_less_error() -> None:
    image, truth = scene(3, (72, 96))
    truth[:, 0] = truth[:, 1]
    relative = RelativeDepth(np.log(truth).astype(np.float32), "log_depth")
    calibrator = Calibrator(gate="none")  # a gate rejects the zones in which a point would be wrong
    errors = {
        use: float(np.abs(calibrator(image, zones.zone_readings(truth, 8, use), relative).depth_m / truth - 1.0).mean())
        for use in zones.USES
    }
    assert errors["areas"] < 0.5 * errors["points"]
    assert errors["as_given"] == errors["areas"]


def test_a_pack_is_scored_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pack(tmp_path / "pack", tiny=3)
    options = ["--data", str(tmp_path / "pack"), "--limit", "2", "--zones", "4", "--out", str(tmp_path / "out")]
    zones.main(options)
    zones.main([*options, "--of-points"])
    assert "tiny" in capsys.readouterr().out
    found = [json.loads(path.read_text()) for path in sorted((tmp_path / "out").iterdir())]
    assert [one["of_points"] for one in found] == [True, False]
    assert set(found[0]["sets"]["tiny"]) == set(zones.USES)


def test_points_of_extent_zero_change_nothing() -> None:
    image, truth = scene(1)
    truth[:, 0] = truth[:, 1]
    noise = 0.1 * np.random.default_rng(0).normal(size=truth.shape)
    relative = RelativeDepth((np.log(truth) + noise).astype(np.float32), "log_depth")
    uv_px = np.random.default_rng(1).integers(0, truth.shape[::-1], (16, 2))
    points = Anchors(uv_px, truth[uv_px[:, 1], uv_px[:, 0]])
    calibrator = Calibrator()
    plain = calibrator(image, points, relative)
    zero = calibrator(image, Anchors(points.uv_px, points.z_m, extent_px=np.zeros((16, 2))), relative)
    np.testing.assert_array_equal(plain.depth_m, zero.depth_m)
    np.testing.assert_array_equal(plain.sigma_m, zero.sigma_m)
