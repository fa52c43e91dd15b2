"""Every figure that needs no image, on small runs: drawn, kept, the same bytes each time."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mrac.conventions import FloatArray
from mrac.errors import MissingExtra
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures import cost, coverage, gate, real, robustness, sweeps
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.style import Figure, house_look, new_canvas, save, style
from mrac.lab.bench.report.labels import METHODS
from tests.lab.bench.report.made import Row, cell, context, grid

NEAR: dict[str, Any] = {"family": "near", "fraction": 0.25}


def study() -> list[Row]:
    """Something of everything."""
    rows = grid({"vanilla": 0.2, "b_prime": 0.21, "mrac_b_prime": 0.1, "default": 0.05}, num_images=3)
    rows += cell("vanilla;gate=none", [0.1], family="gaussian:sigma_m=0.1", fraction=1.0)
    for K in (1, 5, 10):
        rows += cell("vanilla", [1 / K], num_anchors=K)
    for where in ("stratified", "farthest_point"):
        rows += cell("vanilla", [0.3], num_anchors=5, placement=where)
    for sigma in (0.1, 0.2):
        rows += cell("vanilla", [sigma], family=f"gaussian:sigma_m={sigma}", fraction=1.0)
    for value in (1.5, 3):
        method = f"mrac_b_prime;gate=theil_sen_mad:kappa={value:g}"
        rows += cell(method, [0.1], gate_precision=value / 4, gate_recall=0.5, **NEAR)
    for p in (0.0, 0.1):
        rows += cell("vanilla", [0.1 + p], set="kitti15", family="enriched", fraction=p, source="lidar")
    return [row | {"gate_precision": 0.6, "gate_recall": 0.9} if row["gate_recall"] is None else row for row in rows]


def values(line: Any) -> FloatArray:
    return np.asarray(line.get_ydata(), np.float64)


@pytest.mark.parametrize(
    ("make", "keys"),
    [
        (robustness.figures, ["robustness", "robustness_by_set"]),
        (sweeps.figures, ["budget", "placement", "noise"]),
        (gate.figures, ["kappa", "precision_recall"]),
        (real.figures, ["real"]),
        (coverage.figures, ["coverage"]),
        (cost.figures, ["cost"]),
    ],
)
def test_figures_of_a_run_are_drawn_and_kept(
    make: Callable[[Context], list[Figure]], keys: list[str], tmp_path: Path
) -> None:
    figures = make(context(study()))
    assert [figure.key for figure in figures] == keys
    for figure in figures:
        saved = save(figure, tmp_path)
        assert [path.suffix for path in saved.paths] == [".png", ".svg", ".pdf"]
        with Image.open(saved.paths[0]) as picture:
            pixels = np.asarray(picture.convert("L"))
        assert pixels.min() < 60
        assert pixels[0, 0] == 255
        assert saved.paths[2].read_bytes().startswith(b"%PDF")
    assert make(context(cell("vanilla", [0.1], time_ms=None, coverage_68=None))) == []


def test_a_figure_is_the_same_bytes_whoever_draws_it(tmp_path: Path) -> None:
    figure = robustness.figures(context(study()))[0]
    first, second = save(figure, tmp_path / "a"), save(figure, tmp_path / "b")
    for one, other in zip(first.paths, second.paths, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_photographs_are_not_kept_as_drawings(tmp_path: Path) -> None:
    saved = save(Figure("p", "p", "p", lambda: new_canvas(1, 1), has_photos=True), tmp_path)
    assert [path.suffix for path in saved.paths] == [".png", ".pdf"]


def test_a_drawing_is_written_with_a_palette_and_as_what_is_asked_for(tmp_path: Path) -> None:
    saved = save(Figure("p", "p", "p", lambda: new_canvas(1, 1)), tmp_path, ("png",))
    assert [path.name for path in saved.paths] == ["p.png"]
    with Image.open(saved.paths[0]) as picture:
        assert picture.mode == "P"
        assert picture.convert("RGB").getpixel((5, 5)) == (255, 255, 255)


def test_the_cost_of_a_cell_is_summed_over_its_images() -> None:
    (figure,) = cost.figures(context([*cell("vanilla", [0.1, None, 0.1]), *cell("mrac", [0.1] * 3, time_ms=500.0)]))
    with house_look():
        axes = figure.draw().axes[0]
    # A failed image has no time, and costs none.
    for line, expected in zip(axes.lines, ([0.01, 0.01, 0.02], [0.5, 1.0, 1.5]), strict=True):
        np.testing.assert_allclose(values(line), expected)
    assert [text.get_text() for text in axes.texts] == ["vanilla", "MRAC/van"]


def test_the_cost_is_of_one_machine_and_of_no_shared_gpu() -> None:
    rows = [*cell("vanilla", [0.1], hardware="cpu, 2 cores"), *cell("mrac", [0.1], hardware="cpu, 2 cores")]
    rows += [*cell("b_prime", [0.1], hardware="cuda, 2 cores"), *cell("cfa_ols", [0.1], hardware="cpu, 16 cores")]
    with house_look():
        axes = cost.figures(context(rows))[0].draw().axes[0]
    assert sorted(text.get_text() for text in axes.texts) == ["MRAC/van", "vanilla"]


def test_the_mean_and_its_band_are_those_of_the_sets() -> None:
    rows = grid({"vanilla": 0.1}, sets=("nyu",), num_images=1) + grid({"vanilla": 0.3}, sets=("tum",), num_images=1)
    with house_look():
        axes = robustness.figures(context(rows))[0].draw().axes[0]
        x, y = axes.lines[0].get_xdata(), values(axes.lines[0])
        band = axes.collections[0].get_paths()[0].get_extents()
    np.testing.assert_allclose(np.asarray(x, np.float64), [0, 10, 25, 40])
    np.testing.assert_allclose(y, [0.2, 0.22, 0.25, 0.28])
    np.testing.assert_allclose([band.ymin, band.ymax], [0.1, 0.42])


def test_a_missing_cell_is_a_gap_and_one_not_asked_for_is_none() -> None:
    series = Series(name="a", label="a", x=[0, 1, 2], y=[1.0, float("nan"), 2.0])
    with house_look():
        canvas = draw_panels([Panel(title="t", series=[series])], Axis(label="x"), Axis(label="y", from_zero=True))
        axes = canvas.axes[0]
        assert np.isnan(values(axes.lines[0])[1])
        assert axes.get_ylim()[0] == 0.0
        empty = Panel(title="t", series=[Series(name="a", label="a", x=[0], y=[float("nan")])])
        canvas = draw_panels([empty], Axis(label="x"), Axis(label="y"))
    assert [text.get_text() for text in canvas.axes[0].texts] == ["missing"]


def test_shared_axes_hold_all_panels() -> None:
    panels = [Panel(title="t", series=[Series(name="a", label="a", x=[0, 1], y=[0.1, top])]) for top in (0.2, 0.9)]
    with house_look():
        canvas = draw_panels(panels, Axis(label="x"), Axis(label="y", from_zero=True))
        assert canvas.axes[0].get_ylim()[1] > 0.9


def test_no_two_methods_look_alike() -> None:
    looks = [tuple(sorted(style(method).items())) for method in METHODS]
    assert len(set(looks)) == len(looks)
    assert style("anything", 0) != style("anything", 1)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[lab\]"):
        save(Figure("p", "p", "p", lambda: new_canvas(1, 1)), tmp_path)
