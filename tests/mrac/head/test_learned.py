"""The learned heads without torch: what torch says, at any size and number of anchors, and never less than the fit."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import onnx
import pytest
import torch

from mrac import ContractError, onnx_session
from mrac.conventions import FloatArray
from mrac.fit.ols import Ols
from mrac.head import _learned
from mrac.head._learned import share_of_depth
from mrac.head._rendering import NUM_PIXELS, Form, Normal, working_size
from mrac.head.affine import SIGMA_SHARE, Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.head.raw_unet import RawUnet
from mrac.head.residual_unet import ResidualUnet
from mrac.lab.train.heads.residual_network import (
    HeadNetwork,
    Line,
    anchor_channel,
    compose,
    correction_unit,
    normalise_relative,
    raw_depth,
)
from mrac.relative import resize_field
from mrac.space import SPACES, Space, from_space
from mrac.types import Samples
from tests.mrac.head.conftest import Written

FORMS: tuple[Form, ...] = get_args(Form)
SIZES = [((31, 47), 2), ((33, 5), 5), ((64, 96), 1000), ((120, 401), 50), ((101, 75), 1000)]


def made(size: tuple[int, int], num_anchors: int, space: Space = "depth", seed: int = 0) -> Scene:
    """A relative field and readings that it explains only roughly, each at a pixel of its own."""
    rng = np.random.default_rng(seed)
    H, W = size
    relative = (0.5 + rng.random(size) + np.linspace(0, 2, W)).astype(np.float32)
    pixel = rng.choice(H * W, num_anchors, replace=False)
    uv_px = np.stack([pixel % W, pixel // W], axis=1).astype(np.float64)
    x = relative.ravel()[pixel].astype(np.float64)
    line = {"depth": 1.0 + 2.0 * x, "inverse_depth": 0.2 + 0.1 * x, "log_depth": 0.3 + 0.5 * x}[space]
    z_m = from_space(line, space) * np.exp(rng.normal(0, 0.1, num_anchors))
    image = rng.integers(0, 256, (H, W, 3), dtype=np.uint8)
    samples = Samples(uv_px, z_m, x, space, False, np.ones(num_anchors))
    return Scene(image, relative, samples, Ols()(samples))


def by_torch(network: HeadNetwork, scene: Scene, form: Form, kind: type[Head]) -> tuple[FloatArray, FloatArray]:
    """Depth and s, each (H, W), through the code that trains."""
    assert scene.relative is not None
    z, mask = np.full(scene.shape, np.nan, np.float32), np.zeros(scene.shape, np.float32)
    u, v = scene.samples.uv_px.astype(int).T
    z[v, u], mask[v, u] = scene.samples.z_m, 1.0
    x_BHW, z_BHW, mask_BHW = (torch.from_numpy(values)[None] for values in (scene.relative, z, mask))
    space, scale, shift = scene.samples.space, scene.fit.scale, scene.fit.shift
    unit = correction_unit(z_BHW, mask_BHW, space, form)
    line = Line(torch.tensor([scale]).double(), torch.tensor([shift]).double(), unit, space)
    anchor = anchor_channel(line, x_BHW, z_BHW, mask_BHW, form)
    image = torch.from_numpy(scene.image).permute(2, 0, 1)[None].float()
    with torch.no_grad():
        maps = network(image, normalise_relative(x_BHW)[:, None], mask_BHW[:, None], anchor[:, None])
        depth = raw_depth(maps[:, 0]) if kind is RawUnet else compose(line, x_BHW, maps[:, 0], maps[:, 1])
    return depth[0].numpy(), maps[0, -1].numpy()


def is_same(result: HeadResult, expected: tuple[FloatArray, FloatArray]) -> None:
    depth_m, s = expected
    assert result.status == "ok"
    np.testing.assert_allclose(result.depth_m, depth_m, rtol=1e-3)
    sigma_m = depth_m * np.clip(np.sqrt(np.exp(s) + 0.01**2), *SIGMA_SHARE)
    np.testing.assert_allclose(result.sigma_m, sigma_m, rtol=1e-3)


@pytest.mark.parametrize(("size", "num_anchors"), SIZES)
@pytest.mark.parametrize("form", FORMS)
def test_the_residual_head_says_what_torch_says(
    size: tuple[int, int], num_anchors: int, form: Form, residual: Written, variant: Callable[..., Path]
) -> None:
    # A Δ in 1/m takes far points behind the camera, where nothing can be compared.
    for space in SPACES if num_anchors == 50 and form == "scale_free" else ("depth",):
        scene = made(size, num_anchors, space)
        result = ResidualUnet(weights=str(variant(form, space)))(scene)
        is_same(result, by_torch(residual[0], scene, form, ResidualUnet))
        change = np.abs(np.log(result.depth_m / Affine()(scene).depth_m))
        assert float(change.mean()) > 0.01, "the network has nothing to say, so nothing was tested"


@pytest.mark.parametrize(("size", "num_anchors"), SIZES)
def test_the_raw_head_says_what_torch_says(size: tuple[int, int], num_anchors: int, raw: Written) -> None:
    scene = made(size, num_anchors)
    result = RawUnet(weights=str(raw[1]))(scene)
    is_same(result, by_torch(raw[0], scene, "metres", RawUnet))
    other_line = replace(scene, fit=replace(scene.fit, scale=17.0))
    np.testing.assert_array_equal(RawUnet(weights=str(raw[1]))(other_line).depth_m, result.depth_m)


@pytest.mark.parametrize("size", [(480, 640), (352, 1216)])
def test_at_the_sizes_of_the_paper(size: tuple[int, int], residual: Written) -> None:
    scene = made(size, 50)
    head = ResidualUnet(weights=str(residual[1]), num_pixels=size[0] * size[1])
    is_same(head(scene), by_torch(residual[0], scene, "metres", ResidualUnet))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("form", FORMS)
def test_untrained_it_is_the_affine_head_bit_for_bit(space: Space, form: Form, variant: Callable[..., Path]) -> None:
    """At full size, shrunk for the network, and on lines that leave the range of depth."""
    path = str(variant(form, space, untrained=True))
    for seed, num_anchors in enumerate((2, 3, 50)):
        scene = made((130, 71), num_anchors, space, seed)
        wild = replace(scene, fit=replace(scene.fit, scale=-30.0 * scene.fit.scale))
        for head in (ResidualUnet(weights=path), ResidualUnet(weights=path, num_pixels=2000)):
            for one in (scene, wild):
                result = head(one)
                np.testing.assert_array_equal(result.depth_m, Affine()(one).depth_m)
                # s = 0: wrong by a factor of e at one standard deviation
                np.testing.assert_allclose(result.sigma_m, result.depth_m, rtol=1e-4)


def test_one_file_serves_every_number_of_anchors(residual: Written) -> None:
    """Loaded once, and with no branch or loop inside that could treat one number differently from another."""
    head = ResidualUnet(weights=str(residual[1]))
    onnx_session._load.cache_clear()
    for num_anchors in (2, 3, 5, 10, 50, 200, 1000):
        result = head(made((40, 56), num_anchors))
        assert result.status == "ok"
        assert np.isfinite(result.depth_m).all()
    assert onnx_session._load.cache_info().misses == 1
    graph = onnx.load(str(residual[1])).graph
    assert not {node.op_type for node in graph.node} & {"If", "Loop", "Scan"}
    for one in (*graph.input, *graph.output):
        batch, channels, *sides = one.type.tensor_type.shape.dim
        assert channels.dim_value in (1, 3)
        assert all(dim.dim_param for dim in (batch, *sides))


class Spy:
    """Stands before the network: what it was given, and what it said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, change: float = 0.0) -> None:
        self.inputs: list[Mapping[str, FloatArray]] = []
        self.maps: list[FloatArray] = []
        self.change = change
        monkeypatch.setattr(_learned, "run_network", self)

    def __call__(self, path: Path, inputs: Mapping[str, FloatArray], where: str) -> Any:
        self.inputs.append(inputs)
        self.maps.append(np.asarray(onnx_session.run_network(path, inputs, where)) + np.float32(self.change))
        return self.maps[-1]


def test_a_large_image_is_shrunk_for_the_network_and_composed_whole(
    residual: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = Spy(monkeypatch)
    scene = made((301, 203), 50)
    assert scene.relative is not None
    result = ResidualUnet(weights=str(residual[1]), num_pixels=7000)(scene)
    (inputs,), (maps,) = spy.inputs, spy.maps
    h, w = working_size((301, 203), 7000)
    assert {name: values.shape for name, values in inputs.items()} == {
        "image": (1, 3, h, w), "relative": (1, 1, h, w), "mask": (1, 1, h, w), "anchor": (1, 1, h, w),
    }  # fmt: skip
    np.testing.assert_allclose(
        inputs["relative"].mean(), np.clip(Normal.of(scene.relative)(scene.relative), -1, 2).mean(), atol=0.01
    )
    assert inputs["image"].std() < 0.5 * scene.image.std()  # noise, by area: a mean over nine pixels
    np.testing.assert_allclose(inputs["image"].mean(), scene.image.mean(), atol=1.0)
    assert 40 <= inputs["mask"].sum() <= 50
    np.testing.assert_array_equal(inputs["anchor"] > 0, inputs["mask"] > 0)
    enlarged = [torch.tensor(resize_field(values, (301, 203)))[None] for values in maps[0]]
    one = torch.ones(1).double()
    line = Line(scene.fit.scale * one, scene.fit.shift * one, one, "depth")
    expected = compose(line, torch.from_numpy(scene.relative)[None], *enlarged[:2])[0].numpy()
    is_same(result, (expected, enlarged[2][0].numpy()))


def test_the_raw_head_enlarges_log_depth(raw: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    result = RawUnet(weights=str(raw[1]), num_pixels=7000)(made((203, 301), 50))
    log_z, s = (resize_field(values, (203, 301)) for values in spy.maps[0][0])
    is_same(result, (np.exp(log_z), s))


def test_an_anchor_without_trust_is_not_seen(residual: Written) -> None:
    head, scene = ResidualUnet(weights=str(residual[1])), made((31, 47), 20)
    trust = np.ones(20)
    trust[3] = 0.0
    doubted = replace(scene, samples=replace(scene.samples, weight=trust))
    without = replace(scene, samples=scene.samples.keep(trust > 0, trust))
    np.testing.assert_array_equal(head(doubted).depth_m, head(without).depth_m)
    assert not np.array_equal(head(doubted).depth_m, head(scene).depth_m)


def test_what_the_fit_is_given_instead_is_named(residual: Written, raw: Written) -> None:
    scene = made((31, 47), 20)
    samples = scene.samples
    one = samples.keep(np.arange(20) == 4, np.ones(20))
    doubted = replace(samples, weight=(np.arange(20) == 4).astype(float))
    flat = replace(samples, x=np.full(20, 1.5))
    for head in (ResidualUnet(weights=str(residual[1])), RawUnet(weights=str(raw[1]))):
        for few in (samples.keep(np.zeros(20, np.bool_), np.ones(20)), one, doubted):
            given = replace(scene, samples=few, fit=scene.fit if few is doubted else Ols()(few))
            result, plain = head(given), Affine()(given)
            np.testing.assert_array_equal(result.depth_m, plain.depth_m)
            np.testing.assert_array_equal(result.sigma_m, plain.sigma_m)
            assert result.status == "affine_fallback"
        assert head(replace(scene, relative=None)).status == "no_relative_depth"
        status = head(replace(scene, samples=flat, fit=Ols()(flat))).status
        assert status == ("ok" if isinstance(head, RawUnet) else "affine_fallback")


def test_a_network_that_runs_over_is_not_believed(residual: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    Spy(monkeypatch, change=np.nan)
    scene = made((31, 47), 20)
    result = ResidualUnet(weights=str(residual[1]))(scene)
    assert result.status == "affine_fallback"
    np.testing.assert_array_equal(result.depth_m, Affine()(scene).depth_m)


@pytest.mark.parametrize("change", [1e30, -1e30])
def test_whatever_the_network_says_depth_is_a_depth(
    change: float, residual: Written, raw: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    Spy(monkeypatch, change)
    for head in (ResidualUnet(weights=str(residual[1])), RawUnet(weights=str(raw[1]))):
        result = head(made((31, 47), 20))
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
        head(made((31, 47), 20))
    result = head(made((31, 47), 20, "log_depth"))
    assert result.status == "ok"


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2), (3, 200)])
def test_a_few_pixels_are_an_image(size: tuple[int, int], residual: Written, raw: Written) -> None:
    rng = np.random.default_rng(0)
    uv_px = rng.uniform(-0.5, np.array(size[::-1]) - 0.51, (30, 2))  # up to all thirty in one pixel
    samples = Samples(uv_px, rng.uniform(1, 4, 30), rng.random(30), "depth", True, np.ones(30))
    image = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
    scene = Scene(image, rng.random(size).astype(np.float32), samples, Ols()(samples))
    for head in (ResidualUnet(weights=str(residual[1])), RawUnet(weights=str(raw[1]))):
        result = head(scene)
        assert result.status == "ok"
        assert result.depth_m.shape == size
        assert np.isfinite(result.depth_m).all()


def test_the_same_scene_in_other_units_of_the_field(variant: Callable[..., Path]) -> None:
    """The field's range is nothing to the head: what a Δ means does not hang on the foundation."""
    scene = made((31, 47), 20)
    assert scene.relative is not None
    assert scene.samples.x is not None
    samples = replace(scene.samples, x=scene.samples.x * 1000.0 + 5.0)
    relative = (scene.relative * 1000.0 + 5.0).astype(np.float32)
    other = Scene(scene.image, relative, samples, Ols()(samples))
    for form in FORMS:
        head = ResidualUnet(weights=str(variant(form)))
        np.testing.assert_allclose(head(other).depth_m, head(scene).depth_m, rtol=2e-4)


def test_the_scale_free_form_does_not_know_a_scene_from_its_model(variant: Callable[..., Path]) -> None:
    scene = made((31, 47), 20)
    small = replace(scene.samples, z_m=scene.samples.z_m / 8.0)
    model = replace(scene, samples=small, fit=Ols()(small))
    head = ResidualUnet(weights=str(variant("scale_free")))
    np.testing.assert_allclose(8.0 * head(model).depth_m, head(scene).depth_m, rtol=1e-4)


def test_the_network_works_at_the_size_of_its_training(residual: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    for num_pixels in (0, 2000, 10**6):
        ResidualUnet(weights=str(residual[1]), num_pixels=num_pixels)(made((300, 400), 5))
    sizes = [inputs["mask"].shape[2:] for inputs in spy.inputs]
    assert sizes == [working_size((300, 400), num) for num in (NUM_PIXELS, 2000, 10**6)]
