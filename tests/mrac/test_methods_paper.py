"""The paper's methods: each is its gate, least squares on what it kept, and one call of one head."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac import Anchors, Calibrator
from mrac.conventions import FloatArray
from mrac.fit.ols import Ols
from mrac.fit.ransac import Ransac
from mrac.head import _learned
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.head.raw_unet import RawUnet
from mrac.head.residual_unet import ResidualUnet
from mrac.runtime import onnx_session
from tests.conftest import MadeScene

ROWS = {
    "vanilla": ("none", "vanilla"),
    "b_prime": ("none", "b_prime"),
    "mrac": ("theil_sen_mad", "vanilla"),
    "mrac_b_prime": ("theil_sen_mad", "b_prime"),
    "ransac_residual": ("none", "vanilla"),
    "raw_depth": ("none", "raw_depth"),
}


@dataclass(frozen=True)
class Watched(Head):
    """Another head, and what it was called with."""

    head: Head
    scenes: list[Scene] = field(default_factory=list)

    def __call__(self, scene: Scene) -> HeadResult:
        self.scenes.append(scene)
        return self.head(scene)


def multipath(made: MadeScene) -> Anchors:
    """The scene's readings, the first twelve of them at less than half their depth."""
    z_m = made.anchors.z_m.copy()
    z_m[:12] *= 0.4
    return Anchors(made.anchors.uv_px, z_m)


@pytest.mark.parametrize("name", ROWS)
def test_is_the_row_of_the_paper(name: str) -> None:
    calibrator = Calibrator(name, foundation="none")
    gate, weights = ROWS[name]
    assert type(calibrator.gate).__module__ == f"mrac.gate.{gate}"
    assert calibrator.fit == (Ransac(threshold=0.2) if name == "ransac_residual" else Ols())
    expected = RawUnet() if name == "raw_depth" else ResidualUnet(weights=weights)
    assert calibrator.head == expected
    assert calibrator.space == "depth"


@pytest.mark.parametrize("name", ROWS)
def test_one_call_of_the_head_on_the_kept_anchors_alone(
    name: str, make_scene: Callable[..., MadeScene], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrapper, not a second pass: the head runs once, its network runs once, on the anchors the gate left."""
    masks: list[FloatArray] = []

    def run(path: Path, inputs: Mapping[str, FloatArray], where: str) -> Any:
        masks.append(inputs["mask"][0, 0])
        return onnx_session.run_network(path, inputs, where)

    monkeypatch.setattr(_learned, "run_network", run)
    made = make_scene(space="depth")
    anchors = multipath(made)
    watched = Watched(Calibrator(name, foundation="none").head)
    out = Calibrator(name, foundation="none", head=watched)(made.image, anchors, relative=made.relative)
    (scene,), (mask,) = watched.scenes, masks
    keep = out.anchors.keep
    gated = ROWS[name][0] != "none"
    assert keep[:12].any() != gated
    assert keep[12:].sum() >= (30 if gated else len(anchors) - 12)
    by_row = np.lexsort(anchors.uv_px[keep].T)
    np.testing.assert_array_equal(scene.samples.uv_px, anchors.uv_px[keep][by_row])
    np.testing.assert_array_equal(scene.samples.z_m, anchors.z_m[keep][by_row])
    u, v = anchors.uv_px[keep].astype(int).T
    expected = np.zeros((60, 80))
    expected[v, u] = 1.0
    np.testing.assert_array_equal(mask, expected)
    assert out.status == "ok"
    if name == "ransac_residual":
        return  # its fit is judged below
    # The fit is that of the kept anchors, not of all.
    x = made.relative.values[v, u].astype(np.float64)
    slope, intercept = np.polyfit(x, anchors.z_m[keep], 1)
    np.testing.assert_allclose((scene.fit.scale, scene.fit.shift), (slope, intercept), rtol=1e-5)


def test_the_ransac_patch_replaces_the_fit_only(make_scene: Callable[..., MadeScene]) -> None:
    """Sec. V-A: the internal fit is replaced; the head is still shown every anchor, and no verdict is given."""
    made = make_scene(space="depth")
    anchors = multipath(made)
    watched = Watched(Calibrator("ransac_residual", foundation="none").head)
    out = Calibrator("ransac_residual", foundation="none", head=watched)(made.image, anchors, relative=made.relative)
    (scene,) = watched.scenes
    assert out.anchors.keep.all()
    assert len(scene.samples.inliers) == len(anchors)
    u, v = anchors.uv_px[12:].astype(int).T
    slope, intercept = np.polyfit(made.relative.values[v, u].astype(np.float64), anchors.z_m[12:], 1)
    np.testing.assert_allclose((scene.fit.scale, scene.fit.shift), (slope, intercept), rtol=1e-3)


def test_the_gate_saves_the_head_from_multipath(make_scene: Callable[..., MadeScene]) -> None:
    """With the closed form in the head's place, so that it holds whatever the weights have learned."""
    made = make_scene(space="depth")
    error = {}
    for name in ("vanilla", "mrac", "ransac_residual"):
        calibrator = Calibrator(name, foundation="none", head=Affine())
        out = calibrator(made.image, multipath(made), relative=made.relative)
        error[name] = float(np.abs(out.depth_m / made.depth_m - 1).mean())
    assert error["vanilla"] > 0.1
    assert max(error["mrac"], error["ransac_residual"]) < 0.01
