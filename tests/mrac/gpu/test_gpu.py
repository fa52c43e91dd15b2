"""The GPU path against the reference, on the CPU: equal depth, equal verdicts, and nothing that a recording forbids."""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.linalg import block_diag

import mrac.gpu
from mrac import Anchors, relative
from mrac.errors import ContractError
from mrac.foundation.embedded import Embedded, input_size
from mrac.gp import features as reference_features
from mrac.gp.features import ImageAppearance, LengthScales, PixelFeatures
from mrac.gpu import GpuCalibrator
from mrac.gpu.appearance import BatchAppearance, sample_bilinear, solve_block_tridiagonal
from mrac.gpu.foundation import BatchFoundation, to_bytes
from mrac.gpu.nodes import BatchNodes
from mrac.gpu.padded import covered_area, median_of, quantile_of
from mrac.gpu.resampling import resize_matrix
from tests.mrac.gpu.frames import SHAPE, assert_as_reference, inputs, operations, photograph, readings


@pytest.fixture(scope="module")
def calibrator() -> GpuCalibrator:
    return GpuCalibrator(SHAPE, batch=4, max_anchors=32, device="cpu")


def test_depth_and_verdicts_are_the_reference_s(calibrator: GpuCalibrator) -> None:
    images = [photograph(seed) for seed in range(4)]
    kinds = ("near", "cluster", "noise", "sentinel")
    anchors = [readings(image, 32, i, kind) for i, (image, kind) in enumerate(zip(images, kinds, strict=True))]
    statuses = assert_as_reference(calibrator, images, anchors)
    assert statuses[2] == "foundation_disagrees"
    assert statuses[0] == statuses[1] == "ok"


def test_readings_at_whole_pixels_are_the_reference_s(calibrator: GpuCalibrator) -> None:
    """Many are then equally far from each other, and which of them count as the nearest must not differ."""
    image = photograph(5)
    anchors = [readings(image, 32, seed, kind) for seed, kind in ((5, "near"), (6, "cluster"), (7, "cluster"))]
    assert_as_reference(calibrator, [image] * 3, [Anchors(each.uv_px.round(), each.z_m) for each in anchors])


def test_a_grid_of_readings_is_the_reference_s_of_points(calibrator: GpuCalibrator) -> None:
    image = photograph(7)
    u, v = np.meshgrid(np.arange(6) * 13.0 + 7.0, np.arange(5) * 12.0 + 6.0)
    uv_px = np.stack([u.ravel(), v.ravel()], axis=1)
    z_m = 3.0 * np.exp(Embedded()(image).values[v.ravel().astype(int), u.ravel().astype(int)])
    assert_as_reference(calibrator, [image], [Anchors(uv_px, z_m, extent_px=np.zeros((30, 2)))])


def test_few_readings_are_the_reference_s(calibrator: GpuCalibrator) -> None:
    images = [photograph(seed) for seed in range(4)]
    statuses = assert_as_reference(calibrator, images, [readings(image, n, n) for n, image in enumerate(images)])
    assert statuses[:3] == ["no_anchors", "one_anchor", "two_anchors"]


def test_padding_changes_nothing(calibrator: GpuCalibrator) -> None:
    image = photograph(7)
    anchors = readings(image, 14, 7)
    small, padded = (calibrator.stages(*inputs(anchors, image, size)) for size in (16, 24))
    for a, b in zip(small, padded, strict=True):
        torch.testing.assert_close(a, b if a.shape == b.shape else b[:, :16], rtol=1e-5, atol=1e-5)


def test_an_anchor_that_cannot_be_used_is_not_kept(calibrator: GpuCalibrator) -> None:
    image = photograph(1)
    anchors = readings(image, 30, 1)
    uv_px, z_m = np.vstack([anchors.uv_px, [[5.0, 5.0], [900.0, 5.0]]]), np.append(anchors.z_m, [np.nan, 2.0])
    found = calibrator.frames([image], [Anchors(uv_px, z_m)])[0]
    assert not found.keep[-2:].any()
    assert found.outlier_probability[-2:].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("shape", [(480, 640), (60, 80), (97, 61)])
def test_the_network_s_input_is_pillow_s_bit_for_bit(shape: tuple[int, int]) -> None:
    image, (h, w) = photograph(0, shape), input_size(*shape)
    rows, columns = (resize_matrix(*size, "bicubic", of_bytes=True) for size in ((shape[0], h), (shape[1], w)))
    pixels = torch.from_numpy(image).permute(2, 0, 1).double()
    found = to_bytes(torch.from_numpy(rows) @ to_bytes(pixels @ torch.from_numpy(columns).T))
    expected = np.asarray(Image.fromarray(image).resize((w, h), Image.Resampling.BICUBIC))
    np.testing.assert_array_equal(found.permute(1, 2, 0).numpy(), expected)


def test_relative_depth_is_that_of_the_onnx_file() -> None:
    image = photograph(3, (97, 61))
    found = BatchFoundation((97, 61))(torch.from_numpy(image)[None])[0]
    np.testing.assert_allclose(found.detach().numpy(), Embedded()(image).values, atol=1e-5)


def test_features_of_nodes_and_readings_are_the_reference_s() -> None:
    shape, step = (97, 61), 3
    image, rng = photograph(2, shape), np.random.default_rng(0)
    field = rng.normal(size=shape).astype(np.float32)
    uv = rng.uniform(-0.5, [shape[1] - 0.5, shape[0] - 0.5], (40, 2))
    own = BatchAppearance(shape)
    cells = own(torch.from_numpy(image)[None])
    ends = torch.tensor([-1.0]).double(), torch.tensor([2.0]).double()
    nodes = BatchNodes(shape, own.cells, [step]).features(torch.tensor([0]), cells, torch.from_numpy(field)[None], ends)
    expected = PixelFeatures(ImageAppearance(image), field, LengthScales(), (-1.0, 2.0), step)
    # The reference solves for regions in single precision: to a thousandth of the shorter side.
    np.testing.assert_allclose(nodes[0].numpy().T, expected.band(0, expected.grid[0]), atol=1e-3)
    found = own.at_readings(cells, torch.from_numpy(uv)[None])
    np.testing.assert_allclose(found[0].numpy(), expected.at(uv, None)[:, :7], atol=1e-3)
    x = sample_bilinear(torch.from_numpy(field)[None], torch.from_numpy(uv)[None])
    np.testing.assert_allclose(x[0].numpy(), relative.sample_bilinear(field, uv), atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_cyclic_reduction_solves_block_tridiagonal_systems(n: int) -> None:
    rng = np.random.default_rng(n)
    across = rng.normal(size=(n - 1, 4, 4))
    dense = block_diag(*(np.eye(4) * 20.0 for _ in range(n)))
    for i, block in enumerate(across):
        dense[4 * i : 4 * i + 4, 4 * i + 4 : 4 * i + 8] = block
        dense[4 * i + 4 : 4 * i + 8, 4 * i : 4 * i + 4] = block.T
    known = rng.normal(size=(n, 4, 2))
    within = torch.eye(4).double().mul(20.0).expand(1, n, 4, 4)
    found = solve_block_tridiagonal(within, torch.from_numpy(across)[None], torch.from_numpy(known)[None])
    np.testing.assert_allclose(found[0].reshape(-1, 2), np.linalg.solve(dense, known.reshape(-1, 2)), atol=1e-12)


def test_statistics_of_padded_readings_are_numpy_s() -> None:
    rng = np.random.default_rng(0)
    values, counts = rng.normal(size=(3, 12)), [5, 8, 12]
    valid = torch.arange(12) < torch.tensor(counts)[:, None]
    given = torch.from_numpy(values)
    for i, n in enumerate(counts):
        assert median_of(given, valid)[i].item() == pytest.approx(np.median(values[i, :n]))
        assert quantile_of(given, valid, 0.98)[i].item() == pytest.approx(np.quantile(values[i, :n], 0.98))
        pairs = given.reshape(3, 6, 2)
    area = covered_area(pairs, torch.ones(3, 6, dtype=torch.bool))
    assert area[0].item() == pytest.approx(reference_features.covered_area(values[0].reshape(6, 2)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_anchors": 1025}, "max_anchors"),
        ({"batch": 0}, "batch"),
        ({"network_dtype": "int8"}, "network_dtype"),
        ({"device": "abacus"}, "device 'abacus'"),
        ({"device": "meta"}, "device 'meta'"),
    ],
)
def test_what_is_not_supported_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(ContractError, match=words):
        GpuCalibrator(SHAPE, **({"device": "cpu"} | options))  # type: ignore[arg-type]


def test_a_batch_that_does_not_fit_is_refused(calibrator: GpuCalibrator) -> None:
    image = torch.zeros((5, *SHAPE, 3), dtype=torch.uint8)
    with pytest.raises(ContractError, match="at most 4 of 32"):
        calibrator(image, torch.zeros(5, 8, 2), torch.ones(5, 8), torch.zeros(5))
    with pytest.raises(ContractError, match="are needed"):
        calibrator(image, torch.zeros(4, 8, 2), torch.ones(4, 8), torch.zeros(4))
    with pytest.raises(ContractError, match="sigma_m"):
        calibrator.frames([photograph(0)], [Anchors([[1.0, 1.0]], [1.0], [0.1])])
    with pytest.raises(ContractError, match="extent_px"):
        calibrator.frames([photograph(0)], [Anchors([[1.0, 1.0]], [1.0], extent_px=[[2.0, 2.0]])])
    with pytest.raises(ContractError, match="1 images and 0 sets"):
        calibrator.frames([photograph(0)], [])
    with pytest.raises(ContractError, match=r"an image of \(30, 40\)"):
        calibrator.frames([photograph(0, (30, 40))], [Anchors([[1.0, 1.0]], [1.0])])
    assert calibrator.frames([], []) == []


def test_sizes_are_bucketed() -> None:
    sizes = GpuCalibrator(SHAPE, batch=6, max_anchors=50, device="cpu").sizes()
    assert sorted({B for B, _ in sizes}) == [1, 2, 4, 6]
    assert sorted({K for _, K in sizes}) == [16, 32, 50]


FORBIDDEN = frozenset(
    ["item", "tolist", "cpu", "numpy", "nonzero", "masked_select", "new_tensor", "unique", "from_numpy", "tensor"]
)
RECORDED = [
    "appearance",
    "classifier",
    "dealing",
    "fit",
    "gate",
    "hypotheses",
    "kriging",
    "linear_algebra",
    "mixture",
    "nodes",
    "padded",
    "process",
    "stages",
    "tiles",
]


def calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr


@pytest.mark.parametrize("name", RECORDED)
def test_nothing_in_a_recording_waits_for_the_device(name: str) -> None:
    path = Path(mrac.gpu.__file__).with_name(f"{name}.py")
    assert not FORBIDDEN & set(calls(ast.parse(path.read_text(encoding="utf-8"))))


def test_what_runs_on_the_device_does_not_depend_on_values(calibrator: GpuCalibrator) -> None:
    """Every operation of one frame is repeated by another one, in the same order with the same shapes."""
    image = photograph(0)
    given = inputs(readings(image, 14, 0), image, 16), inputs(readings(image, 9, 1, "noise"), image, 16)
    first, other = (operations(lambda each=each: calibrator.stages(*each)) for each in given)  # type: ignore[misc]
    assert len(first) > 100
    assert first == other
