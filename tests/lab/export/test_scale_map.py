"""The file that ships says what torch says."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from safetensors.torch import save_file

from mrac.head.base import Scene
from mrac.head.sml import Sml
from mrac.runtime.onnx_session import network_metadata, run_network
from mrac.types import FitResult, Samples
from tests.lab.export.conftest import Exported
from tests.lab.float32_error import summation_error


@pytest.mark.parametrize(("num", "size"), [(1, (32, 32)), (2, (64, 96)), (1, (288, 384)), (1, (384, 128))])
def test_says_what_torch_says(exported: Exported, num: int, size: tuple[int, int]) -> None:
    x = torch.randn(num, 2, *size, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected, unrounded = exported.rounded(x).numpy(), exported.network(x).numpy()
    assert expected.std() > 0.01
    got = run_network(exported.path, x.numpy(), "test")
    allowed = summation_error(exported.rounded) * float(np.abs(expected).max())
    np.testing.assert_allclose(got, expected, rtol=0, atol=allowed)
    # Eight bits move a weight by 0.4 % of its channel's largest at most, and the answer by less than its own spread.
    assert allowed < np.abs(got - unrounded).max() < expected.std()


def test_is_small_and_leaves_out_what_never_runs(exported: Exported) -> None:
    assert exported.path.stat().st_size < 18_500_000
    stored = sum(int(np.prod(constant.dims)) for constant in onnx.load(str(exported.path)).graph.initializer)
    dead = sum(p.numel() for n, p in exported.network.named_parameters() if "refinenet4.resConfUnit1" in n)
    assert dead > 4_000_000
    assert stored < sum(p.numel() for p in exported.network.parameters()) - 0.99 * dead


def test_carries_its_words(exported: Exported) -> None:
    assert network_metadata(exported.path, "test") == {**exported.about, "mrac.recipe": "none"}


def test_the_head_gives_the_same_depth_through_either_runtime(exported: Exported, tmp_path: Path) -> None:
    own = tmp_path / "learner.safetensors"
    save_file(exported.rounded.state_dict(), own, exported.about)
    rng = np.random.default_rng(0)
    v, u = np.mgrid[0:96, 0:128]
    relative = (1.0 + 0.5 * np.sin(u / 17) + 0.3 * np.cos(v / 11)).astype(np.float32)
    uv_px = np.stack([rng.integers(0, 128, 60), rng.integers(0, 96, 60)], axis=1).astype(np.float64)
    z_m = 1.0 / (0.1 + 0.3 * relative[uv_px[:, 1].astype(int), uv_px[:, 0].astype(int)]) * rng.uniform(0.8, 1.2, 60)
    samples = Samples(uv_px, z_m, np.ones(60), "inverse_depth", True, np.ones(60))
    fit = FitResult(1.0, 0.0, np.zeros((2, 2)), 0.1, np.ones(60, np.bool_))
    scene = Scene(np.zeros((96, 128, 3), np.uint8), relative, samples, fit)
    by_onnx, by_torch = Sml(weights=str(exported.path))(scene), Sml(weights=str(own))(scene)
    own.unlink()  # 85 MB, and pytest keeps folders
    assert by_onnx.status == by_torch.status == "ok"
    np.testing.assert_allclose(by_onnx.depth_m, by_torch.depth_m, rtol=1e-3)
    alone = Sml(global_alignment_only=True)(scene)
    assert np.abs(by_onnx.depth_m / alone.depth_m - 1).mean() > 0.01
