"""The learned heads beside the torch code that trains them: the same depth and deviation from an exported file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import onnx
import pytest
import torch

from mrac.conventions import FloatArray
from mrac.head._rendering import Form
from mrac.head.affine import Affine
from mrac.head.base import Head, Scene
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
from mrac.space import SPACES, Space
from tests.lab.head.conftest import Written
from tests.mrac.head.scenes import noisy_scene
from tests.mrac.head.test_learned import is_same

FORMS: tuple[Form, ...] = get_args(Form)
SIZES = [((31, 47), 2), ((33, 5), 5), ((64, 96), 1000), ((120, 401), 50), ((101, 75), 1000)]


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


@pytest.mark.parametrize(("size", "num_anchors"), SIZES)
@pytest.mark.parametrize("form", FORMS)
def test_the_residual_head_gives_what_torch_gives(
    size: tuple[int, int], num_anchors: int, form: Form, residual: Written, variant: Callable[..., Path]
) -> None:
    # A Δ in 1/m takes far points behind the camera, where nothing can be compared.
    for space in SPACES if num_anchors == 50 and form == "scale_free" else ("depth",):
        scene = noisy_scene(size, num_anchors, space)
        result = ResidualUnet(weights=str(variant(form, space)))(scene)
        is_same(result, by_torch(residual[0], scene, form, ResidualUnet))
        change = np.abs(np.log(result.depth_m / Affine()(scene).depth_m))
        assert float(change.mean()) > 0.01, "no correction: nothing was tested"


@pytest.mark.parametrize(("size", "num_anchors"), SIZES)
def test_the_raw_head_gives_what_torch_gives(size: tuple[int, int], num_anchors: int, raw: Written) -> None:
    scene = noisy_scene(size, num_anchors)
    result = RawUnet(weights=str(raw[1]))(scene)
    is_same(result, by_torch(raw[0], scene, "metres", RawUnet))
    other_line = replace(scene, fit=replace(scene.fit, scale=17.0))
    np.testing.assert_array_equal(RawUnet(weights=str(raw[1]))(other_line).depth_m, result.depth_m)


@pytest.mark.parametrize("size", [(480, 640), (352, 1216)])
def test_at_the_sizes_of_the_paper(size: tuple[int, int], residual: Written) -> None:
    scene = noisy_scene(size, 50)
    head = ResidualUnet(weights=str(residual[1]), num_pixels=size[0] * size[1])
    is_same(head(scene), by_torch(residual[0], scene, "metres", ResidualUnet))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("form", FORMS)
def test_untrained_it_is_the_affine_head_bit_for_bit(space: Space, form: Form, variant: Callable[..., Path]) -> None:
    path = str(variant(form, space, untrained=True))
    scene = noisy_scene((130, 71), 50, space)
    for head in (ResidualUnet(weights=path), ResidualUnet(weights=path, num_pixels=2000)):
        result = head(scene)
        np.testing.assert_array_equal(result.depth_m, Affine()(scene).depth_m)
        np.testing.assert_allclose(result.sigma_m, result.depth_m, rtol=1e-4)


def test_the_graph_has_no_branches_and_any_size(residual: Written) -> None:
    """No branch or loop that could treat one number of anchors differently from another."""
    graph = onnx.load(str(residual[1])).graph
    assert not {node.op_type for node in graph.node} & {"If", "Loop", "Scan"}
    for one in (*graph.input, *graph.output):
        batch, channels, *sides = one.type.tensor_type.shape.dim
        assert channels.dim_value in (1, 3)
        assert all(dim.dim_param for dim in (batch, *sides))
