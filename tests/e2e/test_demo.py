import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from mrac.demo.run import run_demo
from mrac.demo.scene import motorcycle


def test_the_scene_is_the_dataset_s() -> None:
    scene = motorcycle()
    assert scene.image.shape == (500, 741, 3)
    assert 2.0 < np.nanmin(scene.truth_m) < np.nanmax(scene.truth_m) < 5.1
    assert scene.wrong.sum() == 12
    assert len(scene.anchors) == 50


def test_the_demo_shows_what_each_part_buys(tmp_path: Path) -> None:
    console = Console(width=80, record=True)
    run_demo(tmp_path, console)
    assert max(len(line) for line in console.export_text().splitlines()) <= 80
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    error = {row["label"]: row["abs_rel"] for row in numbers["rows"]}
    assert error["default"] < error["paper's gate"] < error["no gate (cfa_ols)"]
    assert error["default"] < 0.08
    assert error["all right: kriging"] < 0.8 * error["all right: kriging, no network"]
    assert error["default"] < 0.8 * error["default, no network"]
    assert error["default, no network"] < 0.5 * error["default, no gate"], "neighbours are witnesses without a network"
    with Image.open(tmp_path / "panel.png") as picture:
        assert picture.width > 1500


def test_without_scikit_image_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "skimage.data", None)
    with pytest.raises(ImportError, match=r'pip install "mrac\[demo\]"'):
        motorcycle()
