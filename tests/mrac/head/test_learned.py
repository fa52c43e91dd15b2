"""The learned heads on their shipped networks: any size, any number of anchors, and never worse than the fit."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from mrac import ContractError
from mrac.conventions import FloatArray
from mrac.fit.ols import Ols
from mrac.head import _learned
from mrac.head._learned import share_of_depth
from mrac.head._rendering import NUM_PIXELS, Form, Normalisation, working_size
from mrac.head.affine import Affine
from mrac.head.base import HeadResult, Scene
from mrac.head.raw_unet import RawUnet
from mrac.head.residual_unet import ResidualUnet
from mrac.relative import resize_field
from mrac.runtime import onnx_session
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, SIGMA_SHARE, SPACES, Space
from mrac.types import Samples
from tests.mrac.head.scenes import noisy_scene

FORMS: tuple[Form, ...] = get_args(Form)


def is_same(result: HeadResult, expected: tuple[FloatArray, FloatArray]) -> None:
    depth_m, s = expected
    assert result.status == "ok"
    np.testing.assert_allclose(result.depth_m, depth_m, rtol=1e-3)
    sigma_m = depth_m * np.clip(np.sqrt(np.exp(s) + 0.01**2), *SIGMA_SHARE)
    np.testing.assert_allclose(result.sigma_m, sigma_m, rtol=1e-3)


def test_one_file_serves_every_number_of_anchors(residual: Path) -> None:
    head = ResidualUnet(weights=str(residual))
    onnx_session._sessions.clear()
    for num_anchors in (2, 3, 5, 10, 50, 200, 1000):
        result = head(noisy_scene((40, 56), num_anchors))
        assert result.status == "ok"
        assert np.isfinite(result.depth_m).all()
    assert len(onnx_session._sessions) == 1


class Spy:
    """Stands before the network: records inputs and outputs, and may change the outputs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, change: float = 0.0, factor: float = 1.0) -> None:
        self.inputs: list[Mapping[str, FloatArray]] = []
        self.maps: list[FloatArray] = []
        self.factor, self.change = np.float32(factor), np.float32(change)
        monkeypatch.setattr(_learned, "run_network", self)

    def __call__(self, path: Path, inputs: Mapping[str, FloatArray], where: str) -> Any:
        self.inputs.append(inputs)
        maps = np.asarray(onnx_session.run_network(path, inputs, where))
        self.maps.append(self.factor * maps + self.change)
        return self.maps[-1]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("form", FORMS)
def test_without_corrections_it_is_the_affine_head_bit_for_bit(
    space: Space, form: Form, variant: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At full size, shrunk for the network, and on lines that leave the range of depth."""
    Spy(monkeypatch, factor=0.0)
    path = str(variant(form, space))
    for seed, num_anchors in enumerate((2, 3, 50)):
        scene = noisy_scene((130, 71), num_anchors, space, seed)
        wild = replace(scene, fit=replace(scene.fit, scale=-30.0 * scene.fit.scale))
        for head in (ResidualUnet(weights=path), ResidualUnet(weights=path, num_pixels=2000)):
            for one in (scene, wild):
                result = head(one)
                np.testing.assert_array_equal(result.depth_m, Affine()(one).depth_m)
                # s = 0: wrong by a factor of e at one standard deviation
                np.testing.assert_allclose(result.sigma_m, result.depth_m, rtol=1e-4)


def test_a_large_image_is_shrunk_for_the_network_and_composed_whole(
    residual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = Spy(monkeypatch)
    scene = noisy_scene((301, 203), 50)
    assert scene.relative is not None
    result = ResidualUnet(weights=str(residual), num_pixels=7000)(scene)
    (inputs,), (maps,) = spy.inputs, spy.maps
    h, w = working_size((301, 203), 7000)
    assert {name: values.shape for name, values in inputs.items()} == {
        "image": (1, 3, h, w), "relative": (1, 1, h, w), "mask": (1, 1, h, w), "anchor": (1, 1, h, w),
    }  # fmt: skip
    np.testing.assert_allclose(
        inputs["relative"].mean(), np.clip(Normalisation.of(scene.relative)(scene.relative), -1, 2).mean(), atol=0.01
    )
    assert inputs["image"].std() < 0.5 * scene.image.std()  # noise, by area: a mean over nine pixels
    np.testing.assert_allclose(inputs["image"].mean(), scene.image.mean(), atol=1.0)
    assert 40 <= inputs["mask"].sum() <= 50
    np.testing.assert_array_equal(inputs["anchor"] > 0, inputs["mask"] > 0)
    delta_a, delta_b, s = (resize_field(values, (301, 203)).astype(np.float64) for values in maps[0])
    ordered = np.sort(scene.relative, axis=None).astype(np.float64)
    low, high = (ordered[round(share * (ordered.size - 1))] for share in (0.02, 0.98))
    x = scene.relative.astype(np.float64)
    depth_m = scene.fit.scale * x + scene.fit.shift + delta_a * (x - low) / (high - low) + delta_b
    is_same(result, (np.clip(depth_m, MIN_DEPTH_M, MAX_DEPTH_M), s))
    assert np.abs(np.log(result.depth_m / Affine()(scene).depth_m)).mean() > 0.01, "no correction: nothing was tested"


def test_the_raw_head_enlarges_log_depth(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    result = RawUnet(weights=str(raw), num_pixels=7000)(noisy_scene((203, 301), 50))
    log_z, s = (resize_field(values, (203, 301)) for values in spy.maps[0][0])
    is_same(result, (np.exp(log_z), s))


def test_an_anchor_of_weight_zero_is_left_out(residual: Path) -> None:
    head, scene = ResidualUnet(weights=str(residual)), noisy_scene((31, 47), 20)
    weight = np.ones(20)
    weight[3] = 0.0
    weighted = replace(scene, samples=replace(scene.samples, weight=weight))
    without = replace(scene, samples=scene.samples.keep(weight > 0, weight))
    np.testing.assert_array_equal(head(weighted).depth_m, head(without).depth_m)
    assert not np.array_equal(head(weighted).depth_m, head(scene).depth_m)


def test_falling_back_to_the_fit_has_a_status(residual: Path, raw: Path) -> None:
    scene = noisy_scene((31, 47), 20)
    samples = scene.samples
    one = samples.keep(np.arange(20) == 4, np.ones(20))
    outliers = replace(samples, weight=(np.arange(20) == 4).astype(float))
    flat = replace(samples, x=np.full(20, 1.5))
    for head in (ResidualUnet(weights=str(residual)), RawUnet(weights=str(raw))):
        for few in (samples.keep(np.zeros(20, np.bool_), np.ones(20)), one, outliers):
            given = replace(scene, samples=few, fit=scene.fit if few is outliers else Ols()(few))
            result, plain = head(given), Affine()(given)
            np.testing.assert_array_equal(result.depth_m, plain.depth_m)
            np.testing.assert_array_equal(result.sigma_m, plain.sigma_m)
            assert result.status == "affine_fallback"
        assert head(replace(scene, relative=None)).status == "no_relative_depth"
        status = head(replace(scene, samples=flat, fit=Ols()(flat))).status
        assert status == ("ok" if isinstance(head, RawUnet) else "affine_fallback")


def test_an_output_that_is_not_finite_falls_back_to_the_fit(residual: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Spy(monkeypatch, change=np.nan)
    scene = noisy_scene((31, 47), 20)
    result = ResidualUnet(weights=str(residual))(scene)
    assert result.status == "affine_fallback"
    np.testing.assert_array_equal(result.depth_m, Affine()(scene).depth_m)


@pytest.mark.parametrize("change", [1e30, -1e30])
def test_depth_is_valid_whatever_the_network_gives(
    change: float, residual: Path, raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Spy(monkeypatch, change)
    for head in (ResidualUnet(weights=str(residual)), RawUnet(weights=str(raw))):
        result = head(noisy_scene((31, 47), 20))
        for values in (result.depth_m, result.sigma_m):
            assert np.isfinite(values).all()
            assert (values > 0).all()


def test_sigma_is_a_share_of_depth_within_limits() -> None:
    s = np.array([-1e9, 2 * np.log(0.05), 0.0, 1e9], np.float32)
    share = share_of_depth(s)
    np.testing.assert_allclose(share, [0.01, np.hypot(0.05, 0.01), 1.0, 10.0], rtol=1e-4)
    assert share.dtype == np.float32


def test_another_space_than_that_of_training_is_refused(variant: Callable[..., Path]) -> None:
    head = ResidualUnet(weights=str(variant("metres", "log_depth")))
    assert head.trained_space == "log_depth"
    with pytest.raises(ContractError, match=r"trained in the space log_depth, the fit is in depth; .*--space"):
        head(noisy_scene((31, 47), 20))
    result = head(noisy_scene((31, 47), 20, "log_depth"))
    assert result.status == "ok"


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2), (3, 200)])
def test_a_few_pixels_are_an_image(size: tuple[int, int], residual: Path, raw: Path) -> None:
    rng = np.random.default_rng(0)
    uv_px = rng.uniform(-0.5, np.array(size[::-1]) - 0.51, (30, 2))  # up to all thirty in one pixel
    samples = Samples(uv_px, rng.uniform(1, 4, 30), rng.random(30), "depth", True, np.ones(30))
    image = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
    scene = Scene(image, rng.random(size).astype(np.float32), samples, Ols()(samples))
    for head in (ResidualUnet(weights=str(residual)), RawUnet(weights=str(raw))):
        result = head(scene)
        assert result.status == "ok"
        assert result.depth_m.shape == size
        assert np.isfinite(result.depth_m).all()


def test_the_same_scene_in_other_units_of_the_field(variant: Callable[..., Path]) -> None:
    """The unit of Δ does not depend on the field's range, and so not on the foundation."""
    scene = noisy_scene((31, 47), 20)
    assert scene.relative is not None
    assert scene.samples.x is not None
    samples = replace(scene.samples, x=scene.samples.x * 1000.0 + 5.0)
    relative = (scene.relative * 1000.0 + 5.0).astype(np.float32)
    other = Scene(scene.image, relative, samples, Ols()(samples))
    for form in FORMS:
        head = ResidualUnet(weights=str(variant(form)))
        np.testing.assert_allclose(head(other).depth_m, head(scene).depth_m, rtol=2e-4)


def test_in_the_scale_free_form_depth_scales_with_the_scene(variant: Callable[..., Path]) -> None:
    scene = noisy_scene((31, 47), 20)
    small = replace(scene.samples, z_m=scene.samples.z_m / 8.0)
    model = replace(scene, samples=small, fit=Ols()(small))
    head = ResidualUnet(weights=str(variant("scale_free")))
    np.testing.assert_allclose(8.0 * head(model).depth_m, head(scene).depth_m, rtol=1e-4)


def test_the_network_works_at_the_size_of_its_training(residual: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    for num_pixels in (0, 2000, 10**6):
        ResidualUnet(weights=str(residual), num_pixels=num_pixels)(noisy_scene((300, 400), 5))
    sizes = [inputs["mask"].shape[2:] for inputs in spy.inputs]
    assert sizes == [working_size((300, 400), num) for num in (NUM_PIXELS, 2000, 10**6)]
