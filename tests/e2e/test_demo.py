import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from mrac import ContractError
from mrac.anchors import read_anchors
from mrac.demo import motorcycle
from mrac.demo.run import run_demo
from mrac.io.image import read_image


def test_the_scene_is_the_dataset_s() -> None:
    scene = motorcycle()
    assert scene.image.shape == (500, 741, 3)
    assert 2.0 < np.nanmin(scene.truth_m) < np.nanmax(scene.truth_m) < 5.1
    assert scene.wrong.sum() == 12
    assert len(scene.anchors) == 50


def test_the_demo_shows_what_each_part_buys(tmp_path: Path) -> None:
    console = Console(width=80, record=True)
    run_demo(tmp_path, console)
    lines = console.export_text().splitlines()
    (command,) = [line for line in lines if line.startswith("mrac calibrate ")]
    assert command.endswith(" --out result"), "on a line of its own, to be copied"
    assert max(len(line) for line in lines if line != command) <= 80
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    error = {row["label"]: row["abs_rel"] for row in numbers["rows"]}
    assert error["default"] < error["paper's gate"] < error["no gate (cfa_ols)"]
    assert error["default"] < 0.08
    assert error["no outliers: kriging"] < 0.8 * error["no outliers: kriging, no network"]
    assert error["default"] < 0.8 * error["default, no network"]
    assert error["default, no network"] < 0.5 * error["default, no gate"], "neighbours show outliers without a network"
    with Image.open(tmp_path / "panel.png") as picture:
        assert picture.width > 1500
    scene = motorcycle()
    anchors = read_anchors(tmp_path / "anchors.csv", image_shape=(500, 741))
    np.testing.assert_array_equal(anchors.uv_px, scene.anchors.uv_px)
    np.testing.assert_array_equal(anchors.z_m, scene.anchors.z_m)
    np.testing.assert_array_equal(read_image(tmp_path / "image.png"), scene.image)
    assert (tmp_path / "anchors.csv").read_text().startswith("u,v,z_m\n")


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
def test_a_wrong_fraction_is_named(fraction: float) -> None:
    with pytest.raises(ContractError, match="wrong_fraction"):
        motorcycle(wrong_fraction=fraction)


@pytest.mark.parametrize("count", [-1, 741 * 500 + 1])
def test_a_number_of_anchors_that_there_are_not_is_named(count: int) -> None:
    with pytest.raises(ContractError, match=rf"num_anchors = {count}; a whole number from 0 to "):
        motorcycle(num_anchors=count)


def test_without_scikit_image_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "skimage.data", None)
    with pytest.raises(ImportError, match=r'pip install "mrac-depth\[demo\]"'):
        motorcycle()
