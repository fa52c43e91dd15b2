"""Figures that look at images again, on a made pack."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Cell, Protocol
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures import blind_spot, propagation, teaser
from mrac.lab.bench.report.figures.scenes import Scenes
from mrac.lab.bench.report.figures.style import house_look, save
from mrac.lab.bench.report.tables import propagation as propagation_table
from mrac.lab.bench.score import score_image
from tests.lab.bench.report.made import cell, context
from tests.lab.packs import write_pack

METHODS = ("vanilla", "mrac_b_prime")
NEAR: dict[str, Any] = {"family": "near", "fraction": 0.25, "set": "kitti_made"}
OPTIONS: dict[str, Any] = {"low": 0.3, "high": 0.4}


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pack(tmp_path_factory.mktemp("data"), room=1, kitti_made=4)


@pytest.fixture(scope="module")
def made(pack: Path) -> Context:
    grid = {"sets": ["room", "kitti_made"], "methods": list(METHODS), "families": ["near"], "fractions": [0.25]}
    protocol = Protocol.of({"name": "made", "families": {"near": OPTIONS}, "grid": [grid]})
    # In the last image the gate gains most, in the first least.
    rows = [*cell("vanilla", [0.1, 0.3, 0.2, 0.4], **NEAR), *cell("mrac_b_prime", [0.1] * 4, **NEAR)]
    rows += cell("vanilla", [0.1], **(NEAR | {"set": "room"}))
    return context(rows, runs=({"protocol": protocol.to_json(), "sets": {"kitti_made": {}}},))


@pytest.fixture(scope="module")
def scenes(made: Context, pack: Path) -> Scenes:
    return Scenes(made, pack)


def test_the_paper_s_set_is_shown_and_frames_are_neither_best_nor_worst(scenes: Scenes) -> None:
    assert scenes.set_name == "kitti_made"
    assert scenes.methods == ["vanilla", "mrac_b_prime"]
    assert scenes.by_gap == [0, 2, 1, 3]
    assert scenes.typical(1) == [1]
    assert scenes.typical(2) == [2, 3]
    assert len(scenes.typical(9)) == 4


def test_anchors_and_errors_are_the_run_s_own(scenes: Scenes) -> None:
    seen = scenes.see(2)
    protocol = Protocol.of(
        {"families": {"near": OPTIONS}, "grid": [{"sets": ["kitti_made"], "methods": ["mrac_b_prime"]}]}
    )
    (row,) = score_image(seen.sample, protocol, [Cell(scenes.condition, "mrac_b_prime")])
    assert seen.drawn.hash == row["anchors_hash"]
    assert int(seen.rejected("mrac_b_prime").sum()) == row["num_rejected"]
    assert seen.abs_rel("mrac_b_prime") == pytest.approx(row["abs_rel"], rel=1e-4)


def test_error_by_distance_is_that_of_the_pixels_so_far_away(scenes: Scenes) -> None:
    seen = scenes.see(0)
    binned = propagation_table.binned(seen, "vanilla")
    uv = seen.drawn.anchors.uv_px[seen.drawn.wrong]
    v, u = np.mgrid[0 : seen.sample.truth_m.shape[0], 0 : seen.sample.truth_m.shape[1]]
    distance = np.min(np.hypot(u[..., None] - uv[:, 0], v[..., None] - uv[:, 1]), axis=-1)
    error = seen.error("vanilla")
    near = (distance < 20) & np.isfinite(error)
    assert binned[0] == pytest.approx(error[near].mean())
    assert np.isnan(binned[-1])  # the made image is smaller than that


@pytest.mark.parametrize("wide", [1.0, 2.0])
def test_image_figures_are_drawn(
    made: Context, scenes: Scenes, wide: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (blind_spot, teaser):
        monkeypatch.setattr(module, "WIDE", wide)
        (figure,) = module.figures(made, scenes)
        assert figure.has_photos
        saved = save(figure, tmp_path)
        assert [path.suffix for path in saved.paths] == [".png", ".pdf"]
        with Image.open(saved.paths[0]) as picture:
            assert np.asarray(picture).std() > 10


def test_the_panel_has_a_picture_per_frame_and_column_with_all_marks(scenes: Scenes, made: Context) -> None:
    with house_look():
        canvas = blind_spot.figures(made, scenes)[0].draw()
    assert len(canvas.axes) == 3 * (2 + len(METHODS))
    titles = [axes.get_title(loc="left") for axes in canvas.axes]
    assert sum(title.startswith("MRAC/B′: AbsRel") for title in titles) == 3
    gated = next(axes for axes in canvas.axes if axes.get_title(loc="left").startswith("MRAC/B′"))
    seen = scenes.see(scenes.typical(3)[0])
    drawn = [np.size(line.get_xdata()) for line in gated.lines]
    wrong, rejected = seen.drawn.wrong, seen.rejected("mrac_b_prime")
    assert drawn == [int((~wrong & ~rejected).sum()), *[int(wrong.sum())] * 2, *[int(rejected.sum())] * 2]


def test_propagation_over_all_frames_with_the_paper_s_points(scenes: Scenes, made: Context, tmp_path: Path) -> None:
    (figure,) = propagation.figures(made, scenes)
    assert "all 4 frames" in figure.about
    assert not figure.has_photos
    with house_look():
        axes = figure.draw().axes[0]
    vanilla = np.asarray(axes.lines[0].get_ydata(), np.float64)
    assert np.isfinite(vanilla[0])
    assert {line.get_fillstyle() for line in axes.lines} >= {"none"}
    (table,) = propagation_table.tables(made, scenes)
    row = next(row for row in table.rows if row.label == "vanilla")
    assert row.entries[0].value == pytest.approx(vanilla[0])
    assert [entry.paper.text if entry.paper else "" for entry in row.entries] == ["0.26", "", "", "", "0.14", ""]
    assert table.columns[:2] == ("0 to 20", "20 to 40")


def test_data_without_the_run_s_sets_is_an_error(made: Context, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="none of the run's sets"):
        Scenes(made, write_pack(tmp_path / "other", other=1))
