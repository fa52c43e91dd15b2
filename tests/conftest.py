"""Scenes that the tests share: made here, known exactly; and which tests wait for the laboratory's packages.

`make test` installs no torch. All of tests/lab, a test module elsewhere that imports one of NEEDED at its top, and a
single test marked `lab` are left out then; `make test-all` installs the packages and runs these: `pytest -m lab`.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

from mrac import Anchors, RelativeDepth
from mrac.space import Space, to_space
from mrac.types import Samples
from tests.memory import memory_gb

PACKAGES = ("torch", "transformers", "safetensors", "huggingface_hub", "onnx", "pyarrow", "matplotlib", "h5py", "ray")
NEEDED = (*PACKAGES, "mrac.lab", "tests.lab", "tests.networks")
INSTALLED = all(find_spec(name) for name in PACKAGES)
LAB = Path(__file__).parent / "lab"

# No test asserts on time: on a busy machine, or while kernels compile, any example may take seconds.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@cache
def needs_packages(path: Path) -> bool:
    """Whether a test module is the laboratory's, or imports at its top what `make test` does not install."""
    if path.is_relative_to(LAB):
        return True
    names: list[str] = []
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return any(f"{name}.".startswith(f"{needed}.") for name in names for needed in NEEDED)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    ignored = not INSTALLED and (collection_path == LAB or collection_path.suffix == ".py")
    return True if ignored and needs_packages(collection_path) else None


def pytest_itemcollected(item: pytest.Item) -> None:
    if needs_packages(item.path):
        item.add_marker(pytest.mark.lab)
    if not INSTALLED and item.get_closest_marker("lab"):
        item.add_marker(pytest.mark.skip(reason="needs torch and the like: make test-all"))
    if (needed := item.get_closest_marker("memory")) and memory_gb() < needed.args[0]:
        reason = f"needs {needed.args[0]} GB of memory, {memory_gb():.1f} are here"
        item.add_marker(pytest.mark.skip(reason=reason))


@dataclass(frozen=True)
class MadeScene:
    """A tilted floor and a box in front of it, photographed in colours that follow the depth."""

    image: NDArray[np.uint8]
    depth_m: NDArray[np.float64]
    relative: RelativeDepth
    anchors: Anchors


@pytest.fixture(scope="session", autouse=True)
def no_cache_of_the_user_s() -> Iterator[None]:
    """No test reads or fills the cache of whoever runs it; those about the cache name a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MRAC_CACHE", "off")
        yield


@pytest.fixture
def make_scene() -> Callable[..., MadeScene]:
    def make(
        num_anchors: int = 50, shape: tuple[int, int] = (60, 80), space: Space = "inverse_depth", seed: int = 0
    ) -> MadeScene:
        rng = np.random.default_rng(seed)
        H, W = shape
        v, u = np.mgrid[0:H, 0:W]
        depth_m = 1.0 / (0.15 + 0.5 * v / max(H - 1, 1))
        depth_m[H // 4 : H // 2, W // 4 : W // 2] = 1.2
        image = np.clip(np.stack([depth_m * 30, u * 255 / W, v * 255 / H], axis=2), 0, 255).astype(np.uint8)
        relative = RelativeDepth((to_space(depth_m, space) - 0.1) / 2.5, space)
        uv_px = np.stack([rng.integers(0, W, num_anchors), rng.integers(0, H, num_anchors)], axis=1)
        uv_px = np.unique(uv_px, axis=0)
        return MadeScene(image, depth_m, relative, Anchors(uv_px, depth_m[uv_px[:, 1], uv_px[:, 0]]))

    return make


@pytest.fixture
def make_samples() -> Callable[..., Samples]:
    def make(
        x: NDArray[np.float64] | list[float] | None, z_m: NDArray[np.float64] | list[float], space: Space = "depth"
    ) -> Samples:
        z = np.asarray(z_m, dtype=np.float64)
        return Samples(
            uv_px=np.stack([np.arange(z.size), np.arange(z.size)], axis=1).astype(np.float64),
            z_m=z,
            x=None if x is None else np.asarray(x, dtype=np.float64),
            space=space,
            native=True,
            weight=np.ones(z.size),
        )

    return make
