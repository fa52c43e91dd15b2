import numpy as np
import pytest
from scipy.sparse import coo_matrix, diags
from scipy.sparse.linalg import spsolve

from mrac.conventions import ImageArray
from mrac.gp import features as _appearance
from mrac.gp.features import ImageAppearance, appearance, smooth_within_edges


def test_colour_is_lightness_and_two_differences() -> None:
    image = np.zeros((60, 60, 3), np.uint8)
    image[:] = (255, 255, 255)
    np.testing.assert_allclose(appearance(image)[0][:, 5, 5], [1, 0, 0], atol=1e-6)
    image[:] = (255, 0, 0)
    np.testing.assert_allclose(appearance(image)[0][:, 5, 5], [1 / 3, 1, 0.5], atol=1e-6)


@pytest.mark.parametrize(
    ("colour", "opponents"),
    [
        ((255, 255, 255), (1.0, 0.0, 0.0)),
        ((255, 0, 0), (1 / 3, 1.0, 0.5)),
        ((0, 255, 0), (1 / 3, -1.0, 0.5)),
        ((0, 0, 255), (1 / 3, 0.0, -1.0)),
        ((51, 102, 0), (0.2, -0.2, 0.3)),
    ],
)
def test_opponents_of_one_colour(colour: tuple[int, int, int], opponents: tuple[float, float, float]) -> None:
    found = _appearance._opponents(np.full((3, 4, 3), colour, np.uint8))
    np.testing.assert_allclose(found.reshape(3, -1), np.repeat(np.array(opponents)[:, None], 12, axis=1), atol=1e-6)


def test_coordinates_flow_together_inside_a_surface_and_stay_apart_across_an_edge() -> None:
    image = np.full((120, 160, 3), 40, np.uint8)
    image[:, 80:] = 200
    u = appearance(image)[1][0]  # cells of 2 pixels
    inside = abs(u[30, 35] - u[30, 5])
    across = abs(u[30, 45] - u[30, 35])
    assert 5 * inside < across, "30 cells inside one surface are far nearer than 10 cells across its edge"


def test_a_portrait_is_a_turned_landscape() -> None:
    image = np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)
    wide, tall = appearance(image), appearance(image.swapaxes(0, 1).copy())
    np.testing.assert_allclose(tall[0], wide[0].swapaxes(1, 2), atol=1e-6)
    np.testing.assert_allclose(tall[1][::-1], wide[1].swapaxes(1, 2), atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2), (7, 4), (4, 9)])
def test_solves_the_stated_problem(shape: tuple[int, int]) -> None:
    """Against the same normal equations, assembled edge by edge and solved by scipy's sparse solver."""
    rng = np.random.default_rng(1)
    h, w = shape
    fields, guide = rng.random((2, h, w)), rng.random((3, h, w)) * 0.05
    index = np.arange(h * w).reshape(h, w)
    pairs = [(index[:, :-1], index[:, 1:]), (index[:-1], index[1:])]
    a = np.concatenate([p[0].ravel() for p in pairs])
    b = np.concatenate([p[1].ravel() for p in pairs])
    flat = guide.reshape(3, -1)
    tie = _appearance._SMOOTHNESS * np.exp(-np.linalg.norm(flat[:, a] - flat[:, b], axis=0) / _appearance._EDGE)
    tie = np.maximum(tie, _appearance._SMOOTHNESS * _appearance._WEAKEST)
    weights = coo_matrix((np.r_[tie, tie], (np.r_[a, b], np.r_[b, a])), shape=(h * w, h * w)).tocsc()
    system = diags(1 + np.asarray(weights.sum(axis=1)).ravel()) - weights
    expected = np.stack([np.atleast_1d(spsolve(system.tocsc(), f.ravel())).reshape(h, w) for f in fields])
    # Single precision, and smoothness weights that make the condition number some thousands.
    np.testing.assert_allclose(smooth_within_edges(fields, guide), expected, atol=5e-4)


def test_a_ribbon_has_a_bounded_number_of_cells() -> None:
    colour, regions = appearance(np.zeros((40, 70_000, 3), np.uint8))
    assert colour.shape[1] * colour.shape[2] <= 6000 * 60
    assert np.isfinite(regions).all()


def test_the_appearance_is_computed_once_and_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, ...]] = []

    def seen(image: ImageArray) -> tuple[ImageArray, ImageArray]:
        calls.append(image.shape)
        return image, image

    monkeypatch.setattr(_appearance, "appearance", seen)
    made = ImageAppearance(np.zeros((4, 6, 3), np.uint8))
    assert made.shape == (4, 6)
    assert not calls
    assert made.cells is made.cells
    assert calls == [(4, 6, 3)]
