"""The CUDA kernels' own source, run on the CPU, against torch and numpy: see `emulation`."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from mrac.gate.consensus_learned import ConsensusLearned
from mrac.gpu import GpuCalibrator
from mrac.gpu.hypotheses import BatchHypotheses
from mrac.gpu.kernels import em as em_kernel
from mrac.gpu.kernels import process as process_kernels
from mrac.gpu.kernels import source
from mrac.gpu.kernels.small_matrices import MAX_SIZE, invert, tiling_of
from mrac.gpu.kernels.source import SHARED_BYTES
from mrac.gpu.kriging import MAX_EXACT
from mrac.gpu.linear_algebra import Blocks, leave_one_out
from mrac.gpu.mixture import ModelInput, Models, State, make_models
from mrac.gpu.process import distances, process_covariance
from mrac.gpu.tiles import conditioned, predict
from tests.mrac.gpu.emulation import emulated, needs_compiler
from tests.mrac.gpu.frames import SHAPE, assert_as_reference, photograph, readings

GATE = ConsensusLearned()
KINDS = ("near", "cluster")


@pytest.fixture
def on_cpu() -> Iterator[None]:
    with emulated():
        yield


def covariances(shape: tuple[int, ...], size: int) -> Tensor:
    root = torch.from_numpy(np.random.default_rng(size).normal(size=(*shape, size, size)))
    return root @ root.mT + 0.1 * torch.eye(size, dtype=torch.float64)


def models_of(count: int, size: int, *, cluster: bool) -> tuple[Models, Tensor]:
    """Three models of `count` readings of which a fifth are too near, padded to `size`; and log reading less trend."""
    rng = np.random.default_rng(count)
    valid = torch.arange(size).expand(3, size) < count
    features = torch.from_numpy(rng.normal(size=(3, size, 8)))
    if cluster:
        features[:, : count // 2, :2] *= 0.02
    trend = torch.from_numpy(rng.normal(0.0, 0.3, (3, size)))
    log_z = 1.0 + trend + torch.from_numpy(rng.normal(0.0, 0.03, (3, size)))
    log_z[:, ::5] -= torch.from_numpy(rng.uniform(0.5, 1.6, log_z[:, ::5].shape))
    repeated = torch.zeros_like(valid)
    repeated[1, 1:4] = True
    given = ModelInput(valid, repeated, torch.full((3,), GATE.amplitude, dtype=torch.float64))
    z_m = torch.where(valid, log_z, 0.0).exp()
    return make_models(z_m, trend, features, given, GATE, max_dense=size), z_m.log() - trend


@needs_compiler
@pytest.mark.usefixtures("on_cpu")
class TestInvert:
    @pytest.mark.parametrize("size", [1, 5, 16, 17, 45])
    def test_inverse(self, size: int) -> None:
        total = covariances((3,), size)
        np.testing.assert_allclose(invert(total, root=False), np.linalg.inv(total), rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize("size", [1, 5, 16, 45])
    def test_inverse_root(self, size: int) -> None:
        total = covariances((3,), size)
        expected = np.linalg.inv(np.linalg.cholesky(total.numpy()))
        np.testing.assert_allclose(invert(total, root=True), expected, rtol=1e-8, atol=1e-8)

    def test_sizes_that_need_the_largest_tiles(self) -> None:
        total = covariances((1,), 150)
        np.testing.assert_allclose(invert(total, root=False)[0], np.linalg.inv(total[0]), rtol=1e-6, atol=1e-8)


@needs_compiler
@pytest.mark.usefixtures("on_cpu")
class TestEm:
    @pytest.mark.parametrize(("count", "size", "cluster"), [(14, 16, False), (25, 32, True), (1, 16, False)])
    def test_hypotheses_are_those_of_torch(self, count: int, size: int, cluster: bool) -> None:
        models, _ = models_of(count, size, cluster=cluster)
        assert bool(models.dense.any()) == cluster
        of = torch.tensor([2, 0, 1, 2])
        state = self._state(models.take(of), 2)
        exists = torch.tensor([[True, True], [True, False], [True, True], [False, True]])
        expected = models.take(of).em(state, 3)
        own = em_kernel.em(models, state, exists, of, 3)
        inlier = torch.where(models.valid[of][:, None], expected.state.inlier, 0.0)
        parts = inlier, *expected.state[2:], expected.evidence
        for found, right in zip(own[:5], parts, strict=True):
            there = exists.reshape(*exists.shape, *([1] * (right.dim() - 2)))
            np.testing.assert_allclose(found, torch.where(there, right, 0.0), rtol=1e-6, atol=1e-9)
        known = exists[..., None] & models.valid[of][:, None]
        for found, right in zip(own[5:], (expected.residual, expected.var), strict=True):
            np.testing.assert_allclose(found[known], right[known], rtol=1e-6, atol=1e-9)

    def test_evidence_without_outliers_is_that_of_torch(self) -> None:
        models, _ = models_of(14, 16, cluster=False)
        of, amplitude = torch.tensor([0, 1, 2, 1]), torch.tensor([[0.1, 0.3]]).double().repeat(4, 1)
        exists = torch.tensor([[True, True]] * 3 + [[False, True]])
        found = em_kernel.evidence_without_outliers(models, amplitude, exists, of)
        expected = models.take(of).evidence_without_outliers(amplitude)
        np.testing.assert_allclose(found, torch.where(exists, expected, 0.0), rtol=1e-8)

    @staticmethod
    def _state(models: Models, num: int) -> State:
        rng, (Q, K) = np.random.default_rng(0), models.error.shape
        inlier = torch.from_numpy(rng.uniform(0.01, 1.0, (Q, num, K)))
        amplitude, share = (torch.from_numpy(rng.uniform(0.1, 0.9, (Q, num))) for _ in range(2))
        kinds = models.counts[:, None].expand(-1, num, -1) + 0.01
        return State(amplitude, inlier, 1.0 + 4.0 * share, share, kinds / kinds.sum(dim=2, keepdim=True))


@needs_compiler
class TestProcess:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_distances_and_covariances_are_those_of_torch(self, dtype: torch.dtype) -> None:
        rng = np.random.default_rng(0)
        a, b = (torch.from_numpy(rng.normal(size=(2, n, 8))).to(dtype) for n in (7, 5))
        for of in (distances, process_covariance):
            with emulated():
                found = of(a, b)
            np.testing.assert_allclose(found, of(a, b), rtol=1e-5 if dtype == torch.float32 else 1e-12)

    @pytest.mark.parametrize(("num", "nodes"), [(1, 3), (14, 300), (37, 65)])
    def test_predictions_are_those_of_torch(self, num: int, nodes: int) -> None:
        rng = np.random.default_rng(num)
        at, features = (torch.from_numpy(rng.normal(size=(2, n, 8))).float() for n in (nodes, num))
        there = torch.from_numpy(rng.random((2, num)) < 0.8)
        noise_var, residual = (torch.from_numpy(rng.uniform(0.1, 0.2, (2, num))) for _ in range(2))
        given = conditioned(features, noise_var, residual, there)
        with emulated():
            own = predict(at, features, there, given)
        for found, right in zip(own, predict(at, features, there, given), strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)

    def test_many_readings_fit_in_shared_memory(self) -> None:
        assert process_kernels.shared_bytes(MAX_EXACT, 8, 32) <= SHARED_BYTES


@needs_compiler
class TestTheWholeSearch:
    @pytest.mark.parametrize("cluster", [False, True])
    def test_the_first_group(self, cluster: bool) -> None:
        models, error = models_of(14, 16, cluster=cluster)
        two = models.take(torch.tensor([0, 1]))
        self._compare(lambda search: search.first(two, error[:2]), two)

    def test_groups_that_follow(self) -> None:
        models, error = models_of(14, 16, cluster=False)
        shift, amplitude = torch.tensor([1.0, 0.9, 1.1]).double(), torch.tensor([0.2, 0.3, 0.1]).double()
        self._compare(lambda search: search.following(models, error, shift, amplitude), models)

    @staticmethod
    def _compare(run, models: Models) -> None:  # type: ignore[no-untyped-def]
        search = BatchHypotheses(GATE)
        expected = run(search)
        with emulated():
            found = run(search)
        for name, right in expected._asdict().items():
            own = getattr(found, name)
            valid = torch.cat([models.valid, models.valid[1:]])[: len(right)] if right.dim() == 2 else ...
            np.testing.assert_allclose(own[valid], right[valid], rtol=1e-6, atol=1e-8, err_msg=name)


@needs_compiler
def test_depth_and_verdicts_are_the_reference_s() -> None:
    calibrator = GpuCalibrator(SHAPE, batch=2, max_anchors=16, device="cpu")
    images = [photograph(seed) for seed in (0, 1)]
    anchors = [
        readings(image, 15, i, kind) for i, (image, kind) in enumerate(zip(images, ("near", "cluster"), strict=True))
    ]
    with emulated():
        assert_as_reference(calibrator, images, anchors)


def test_one_member_left_out_is_leave_one_out() -> None:
    inverse = torch.linalg.inv(covariances((1, 2), 6))
    residual, var, solved = leave_one_out(inverse, torch.randn(1, 2, 6, dtype=torch.float64))
    own = torch.arange(6)[None]
    blocks = Blocks.of(own, own[..., None], torch.ones(1, 6, 1, dtype=torch.bool), 6)
    for found, expected in zip(blocks.leave_out(inverse, solved), (residual, var), strict=True):
        torch.testing.assert_close(found, expected)


def test_the_largest_matrices_fit_in_shared_memory() -> None:
    assert 8 * tiling_of(MAX_SIZE).space <= SHARED_BYTES
    assert em_kernel.shared_bytes(160, 16) <= SHARED_BYTES


def test_a_gpu_with_little_shared_memory_and_a_processor_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_TORCH", (2, 11))
    for optin, fits in ((SHARED_BYTES, True), (99 * 1024, False)):
        properties = SimpleNamespace(shared_memory_per_block_optin=optin)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _, found=properties: found)
        assert source.fit_on(torch.device("cuda")) == fits
    monkeypatch.setattr(source, "_TORCH", (2, 10))
    assert not source.fit_on(torch.device("cuda"))
    assert not source.fit_on(torch.device("cpu"))
