from pathlib import Path

import numpy as np
import pytest

from mrac import Anchors, ContractError
from mrac.sensors import sensor, sensor_names

NAMES = ("vl53l5cx", "rplidar", "velodyne", "livox", "realsense", "azure_kinect", "arkit", "colmap")


def anchors(z_m: list[float], **more: object) -> Anchors:
    return Anchors(np.zeros((len(z_m), 2)), z_m, **more)  # type: ignore[arg-type]


def test_every_preset_of_the_table_is_read_and_names_its_source() -> None:
    assert sensor_names() == NAMES
    assert all(sensor(name).source for name in NAMES)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "colmap"])
def test_noise_grows_with_depth_and_stays_a_small_share(name: str) -> None:
    found = sensor(name)
    z_m = np.linspace(found.min_m, found.max_m, 20)
    sigma_m = found.sigma(z_m)
    assert sigma_m is not None
    assert (np.diff(sigma_m) >= 0.0).all()
    assert sigma_m[-1] < 0.1 * z_m[-1]


def test_apply_fills_missing_noise_and_keeps_what_is_stated() -> None:
    out = sensor("realsense").apply(anchors([2.0, 2.0], sigma_m=[0.5, np.nan]))
    assert out.sigma_m is not None
    np.testing.assert_allclose(out.sigma_m, [0.5, 0.001 + 0.0025 * 4.0])
    assert out.flag is None


def test_apply_flags_saturation_and_range_and_keeps_flags() -> None:
    found = sensor("realsense").apply(anchors([65.535, 30.0, 0.0, 1.0, 1.0], flag=["", "", "", "", "occluded"]))
    assert found.flag is not None
    assert found.flag.tolist() == ["saturated", "out_of_sensor_range", "saturated", "", "occluded"]


def test_a_sensor_without_unit_changes_nothing() -> None:
    out = sensor("colmap").apply(anchors([1e-5, 1e5]))
    assert out.sigma_m is None
    assert out.flag is None


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[mine]\nper_metre = 100\nsigma_share = 0.1\nmax_m = 3.0\nsaturation = [999]\n")
    found = sensor(path).apply(anchors([9.99, 2.0, 4.0]))
    assert found.flag is not None
    assert found.sigma_m is not None
    assert found.flag.tolist() == ["saturated", "", "out_of_sensor_range"]
    np.testing.assert_allclose(found.sigma_m, [0.999, 0.2, 0.4])
    path.write_text(path.read_text() + "[other]\nmax_m = 1.0\n")
    assert sensor(f"{path}:other").max_m == 1.0
    with pytest.raises(ContractError, match="one of mine, other is needed"):
        sensor(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\ncolour = 3\n", "has 'colour'; known are"),
        ("[a]\nsigma_m = -1\n", "a number >= 0 is needed"),
        ("[a]\nmin_m = 2\nmax_m = 1\n", "is not below max_m"),
        ("[a]\nquantity = 'x'\n", '"z" or "range" is needed'),
        ("[a]\nfov_deg = [1]\n", "2 numbers"),
        ("x = 1\n", "a table for each sensor"),
        ("[a", "not TOML"),
    ],
)
def test_a_wrong_table_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(ContractError, match=message.replace("[", r"\[")):
        sensor(path)


def test_an_unknown_name_lists_those_known() -> None:
    with pytest.raises(ContractError, match="one of vl53l5cx, rplidar"):
        sensor("kinect")
