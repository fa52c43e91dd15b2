"""The scaling of the benchmark: what is measured is whole, and the two curves say what they should."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac.lab.studies.bench_scaling import Setting, draw, exponent, line, measure, summary
from mrac.runtime.cache.location import FOLDER_VARIABLE
from tests.lab.packs import write_pack

METHODS = ("cfa_ols;foundation=none", "default;foundation=none")


def test_a_line_and_a_power_are_found() -> None:
    x = [5, 10, 20, 40]
    assert line(x, [0.5 + 2 * value for value in x]) == pytest.approx({"slope": 2, "intercept": 0.5, "r2": 1})
    assert line(x, [1, 3, 2, 9])["r2"] < 0.95
    assert exponent(x, [3 * value**0.8 for value in x]) == pytest.approx(0.8)


def test_all_cells_are_computed_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, "off")
    setting = Setting(write_pack(tmp_path, room=2), "room")
    took, num_cells = measure(setting, METHODS, 2)
    assert num_cells == 6  # clean, near and dropout for each
    assert took > 0


def test_a_failure_is_not_taken_for_speed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, "off")
    setting = Setting(write_pack(tmp_path, room=1), "room")
    with pytest.raises(SystemExit, match="a failure costs nothing"):
        measure(setting, ("cfa_ols;foundation=precomputed:nowhere.npz",), 1)


def test_methods_that_share_are_told_from_those_that_do_not(tmp_path: Path) -> None:
    """An image costs 1 to decode and predict, and each method 0.5."""
    methods, images, counts = tuple("abcd"), [5, 10, 20], [1, 2, 4]
    chosen = [(methods, n) for n in images] + [(methods[:m], 10) for m in counts] + [((m,), 10) for m in methods]
    times = {(own, n): n * (1 + 0.5 * len(own)) for own, n in chosen}
    found = summary(times, images, methods, counts, 3)
    over = found["over_methods"]
    assert found["over_images"]["exponent"] == pytest.approx(1)
    assert found["over_images"]["line"]["r2"] == pytest.approx(1)
    assert over["seconds_together"] == [15, 20, 30]
    assert over["seconds_apart"] == [15, 30, 60]
    assert over["exponent"] == pytest.approx(0.5)
    draw(found, tmp_path / "scaling.png")
    picture = np.asarray(Image.open(tmp_path / "scaling.png").convert("RGB"))
    assert picture.std() > 10
