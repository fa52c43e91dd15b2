import numpy as np
import pytest
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.head.affine import Affine
from mrac.head.base import Scene
from mrac.head.knn_alignment import KnnAlignment
from tests.mrac.head.scenes import scene

RNG = np.random.default_rng(0)
FIELD = RNG.random((40, 60))
PIXELS = np.stack([*np.divmod(RNG.choice(40 * 60, 30, replace=False), 60)][::-1], axis=1)


def bent() -> Scene:
    """Inverse depth is the field, times a scale that grows from left to right: no one line fits."""
    scale = 0.5 + np.arange(60) / 60
    inv_z = (FIELD + 0.5) * scale
    return scene(FIELD, PIXELS, 1.0 / inv_z[PIXELS[:, 1], PIXELS[:, 0]])


def by_hand(made: Scene, u: int, v: int, k: int, exponent: float, ridge: float) -> float:
    """The ridge regression of one pixel, written as a linear system in (slope, level)."""
    x, y = made.samples.x, made.samples.y
    assert x is not None
    distance = np.hypot(*(made.samples.uv_px - [u, v]).T)
    near = np.argsort(distance)[:k]
    w = distance[near] ** -exponent
    w /= w.sum()
    off = y[near] - made.fit(x[near])
    dx = x[near] - w @ x[near]
    design: FloatArray = np.stack([dx, np.ones(k)], axis=1)
    system = design.T @ (w[:, None] * design) + np.diag([ridge * np.var(x), 0.0])
    slope, level = np.linalg.solve(system, design.T @ (w * off))
    at = made.relative[v, u] if made.relative is not None else 0.0
    return float(made.fit(np.array([at]))[0] + slope * (at - w @ x[near]) + level)


@pytest.mark.parametrize(("k", "exponent", "ridge"), [(5, 2.0, 0.01), (5, 1.0, 0.5), (3, 2.0, 1e-3), (30, 0.0, 1e-9)])
def test_is_the_weighted_regression_of_the_nearest_anchors(k: int, exponent: float, ridge: float) -> None:
    made = bent()
    depth_m = KnnAlignment(neighbours=k, exponent=exponent, ridge=ridge)(made).depth_m
    for u, v in [(0, 0), (17, 33), (59, 39), (30, 2)]:
        assert not np.equal(PIXELS, [u, v]).all(axis=1).any(), "at an anchor there is nothing to solve"
        inv_z = by_hand(made, u, v, k, exponent, ridge)
        assert depth_m[v, u] == pytest.approx(1 / inv_z if inv_z > 1e-4 else 1e4, rel=1e-4)


def test_no_neighbour_is_missed_in_dense_clusters() -> None:
    """Neighbours are searched for tile by tile; most of these anchors lie in one corner."""
    rng = np.random.default_rng(4)
    field = rng.random((70, 90))
    pixels = np.unique(np.concatenate([rng.integers(0, 14, (60, 2)), rng.integers(0, 70, (6, 2))]), axis=0)
    made = scene(field, pixels, rng.uniform(1.0, 1.2, len(pixels)))
    depth_m = KnnAlignment()(made).depth_m
    for u, v in rng.integers(0, [90, 70], (60, 2)):
        if not np.equal(pixels, [u, v]).all(axis=1).any() and not tied(pixels, u, v, 5):
            assert depth_m[v, u] == pytest.approx(1 / by_hand(made, u, v, 5, 2.0, 0.01), rel=1e-4)


def tied(pixels: NDArray[np.int64], u: int, v: int, k: int) -> bool:
    """Whether the k-th and the next nearest anchor are equally far."""
    distance2 = np.sort(((pixels - [u, v]) ** 2).sum(axis=1))
    return bool(distance2[k - 1] == distance2[k])


def test_depth_at_an_anchor_is_its_own() -> None:
    made = bent()
    depth_m = KnnAlignment()(made).depth_m
    np.testing.assert_allclose(depth_m[PIXELS[:, 1], PIXELS[:, 0]], made.samples.z_m, rtol=1e-5)


def test_follows_a_scale_that_one_line_cannot() -> None:
    made = bent()
    truth = 1.0 / ((FIELD + 0.5) * (0.5 + np.arange(60) / 60))
    local, overall = (np.abs(head(made).depth_m / truth - 1).mean() for head in (KnnAlignment(), Affine()))
    assert local < overall / 2


def test_neighbours_of_equal_x_do_not_make_a_slope() -> None:
    """What jitter is for in PriorDA: five equal x with a little noise in z give an arbitrary slope."""
    field = np.zeros((40, 60))
    field[:, 30:] = np.linspace(0, 1, 30)
    near = [[u, 5 * u] for u in range(1, 6)]
    far = [[35, 5], [45, 20], [55, 30], [59, 1]]
    z = np.array([2.0, 2.01, 1.99, 2.02, 2.0, *(1.0 / (0.5 + 0.4 * field[v, u]) for u, v in far)])
    field[[v for _, v in near], [u for u, _ in near]] = 1e-6 * np.arange(5)
    depth_m = KnnAlignment()(scene(field, near + far, z)).depth_m
    assert np.abs(np.log(depth_m[:, :25] / 2.0)).max() < 0.05


def test_an_outlier_spoils_its_surroundings_unless_the_gate_removes_it() -> None:
    """What peers.md notes of PriorDA: five neighbours are too few to outvote one."""
    made = scene(FIELD, PIXELS, 1.0 / (FIELD[PIXELS[:, 1], PIXELS[:, 0]] + 0.5))
    z_m, weight = made.samples.z_m.copy(), np.ones(30)
    z_m[7], weight[7] = 20.0, 0.2
    u, v = PIXELS[7]
    near = np.s_[max(v - 3, 0) : v + 4, max(u - 3, 0) : u + 4]
    truth = 1.0 / (FIELD[near] + 0.5)
    ungated, gated = scene(FIELD, PIXELS, z_m), scene(FIELD, PIXELS, z_m, weight=weight)
    assert np.abs(KnnAlignment()(ungated).depth_m[near] / truth - 1).max() > 0.5
    np.testing.assert_allclose(KnnAlignment()(gated).depth_m[near], truth, rtol=1e-4)


def test_options_are_checked() -> None:
    with pytest.raises(ContractError, match="neighbours"):
        KnnAlignment(neighbours=0)
