"""Random small scenes, and what must be true of every result."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.space import SPACES

_METHODS: Final = ("default", "mrac", "cfa_ols", "cfa_huber", "gnc", "msac")
_CALIBRATORS: dict[str, Calibrator] = {}


def scene(rng: np.random.Generator, folder: Path) -> None:
    """One calibration of absurd numbers: depth and deviation are finite and positive, whatever came in."""
    height, width = (int(n) for n in rng.integers(2, 24, 2))
    image = rng.integers(0, 255, (height, width, 3), dtype=np.uint8)
    num = int(rng.integers(1, 20))
    uv = rng.uniform(-1.0, 1.1, (num, 2)) * [width, height]
    if rng.random() < 0.4:  # at pixel corners, nearly in one place
        off = rng.choice([-1, 1], (num, 2)) * 10.0 ** rng.uniform(-12, 0)
        uv = np.floor(uv[rng.integers(0, num, num) // 3]) + 0.5 + off
    z = 10.0 ** rng.uniform(*[(-4.0, 5.0), (0.0, 0.5)][int(rng.integers(0, 2))], num)
    z[rng.random(num) < 0.1] = rng.choice([np.nan, np.inf, 0.0, -1.0])
    sigma = [None, None, 10.0 ** rng.uniform(-30, 30, num), np.full(num, np.nan)][int(rng.integers(0, 4))]
    relative = None
    if rng.random() < 0.7:
        size = 10.0 ** rng.uniform(-38, 38)
        field = [rng.normal(size=(height, width)), rng.choice([-1.0, 1.0], (height, width)), np.ones((height, width))]
        values = field[int(rng.integers(0, 3))] * size
        values[rng.random((height, width)) < 0.1] = rng.choice([np.nan, np.inf, -np.inf, 0.0])
        relative = RelativeDepth(values, SPACES[int(rng.integers(0, len(SPACES)))])
    found = _calibrator(rng)(image, Anchors(uv, z, sigma), relative)
    check(found, num)


def check(found: Any, num: int) -> None:
    """Raises `AssertionError` where a result breaks its contract."""
    for values in (found.depth_m, found.sigma_m):
        assert np.isfinite(values).all(), "depth or deviation is not finite"
        assert (values > 0.0).all(), "depth or deviation is not > 0"
    verdicts = found.anchors
    assert len(verdicts) == num, "a reading has no verdict"
    assert np.isfinite(verdicts.score).all(), "a score is not finite"
    for share in (verdicts.weight, verdicts.outlier_probability):
        assert 0.0 <= share.min(initial=0.0) <= share.max(initial=1.0) <= 1.0 + 1e-6, "a share lies outside 0 to 1"


def invariants(rng: np.random.Generator, folder: Path) -> None:
    """One plausible scene: order, scale and a duplicate change nothing they must not."""
    height, width, num = 20, 28, int(rng.integers(4, 30))
    v, u = np.mgrid[0:height, 0:width]
    depth = 1.0 + rng.uniform(0.5, 3.0) * v / height + rng.uniform(0.0, 1.0) * u / width
    image = np.clip(np.stack([depth * 40, u * 4, v * 6], 2), 0, 255).astype(np.uint8)
    at = np.stack([rng.integers(0, width, num), rng.integers(0, height, num)], 1)
    at = np.unique(at, axis=0)
    z = depth[at[:, 1], at[:, 0]] * np.where(rng.random(len(at)) < 0.15, rng.uniform(0.3, 0.7), 1.0)
    relative = RelativeDepth(1.0 / depth, "inverse_depth") if rng.random() < 0.7 else None
    calibrator = _calibrator(rng)
    base = calibrator(image, Anchors(at, z), relative)
    check(base, len(at))
    order = rng.permutation(len(at))
    other = calibrator(image, Anchors(at[order], z[order]), relative)
    assert np.array_equal(other.depth_m, base.depth_m), "the order of the readings matters"
    assert np.array_equal(other.anchors.keep, base.anchors.keep[order]), "the order of the readings changes a verdict"
    twice = np.append(np.arange(len(at)), int(rng.integers(0, len(at))))
    other = calibrator(image, Anchors(at[twice], z[twice]), relative)
    assert np.array_equal(other.depth_m, base.depth_m), "a duplicate of a reading matters"
    streamed = list(calibrator.stream([(image, Anchors(at, z), relative)] * 2, workers=2))
    assert all(np.array_equal(one.depth_m, base.depth_m) for one in streamed), "a stream differs from a call"


def _calibrator(rng: np.random.Generator) -> Calibrator:
    name = _METHODS[int(rng.integers(0, len(_METHODS)))]
    if name not in _CALIBRATORS:
        _CALIBRATORS[name] = Calibrator(name, foundation="none")
    return _CALIBRATORS[name]
