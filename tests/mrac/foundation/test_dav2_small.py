"""Depth Anything V2 Small without torch: against the torch path, and where its weights are looked for."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError, registry
from mrac.foundation._published_file import DAV2_SMALL, cached_file, hub_cache
from mrac.foundation.dav2_small import GRAPH, DepthAnythingSmall
from mrac.runtime.onnx_weights import external_tensors
from tests.safetensors_file import write_random_weights, write_safetensors

HERE = "models--depth-anything--Depth-Anything-V2-Small-hf"
PICTURE = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the true architecture with random numbers."""
    path = tmp_path_factory.mktemp("weights") / "model.safetensors"
    write_random_weights(GRAPH, path)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that never fetched anything."""
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def put_in_cache(hub: Path, weights: Path) -> Path:
    """A link to `weights` where the hub's client would have put one to its own file."""
    path = hub / HERE / "snapshots" / ("a" * 40) / "model.safetensors"
    path.parent.mkdir(parents=True)
    (hub / HERE / "refs").mkdir()
    (hub / HERE / "refs" / "main").write_text("a" * 40)
    path.symlink_to(weights)
    return path


def test_the_graph_has_no_weights() -> None:
    assert GRAPH.stat().st_size < 200_000
    tensors = external_tensors(GRAPH.read_bytes())
    # All but what never runs: the mask token, and the first residual unit of the deepest fusion layer.
    never_run = 384 + 2 * (64 * 64 * 9 + 64)
    assert sum(int(np.prod(shape)) for shape in tensors.values()) == 24_785_089 - never_run
    assert len(tensors) == 282


@pytest.mark.parametrize("resize", ["checkpoint", "original"])
def test_any_image_gives_inverse_depth_of_its_size(resize: str, weights: Path) -> None:
    foundation = DepthAnythingSmall(str(weights), size=56, resize=resize)
    for shape in ((48, 64), (1, 1), (5, 300), (131, 97)):
        image = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
        relative = foundation(image)
        assert relative.space == "inverse_depth"
        assert relative.values.shape == shape
        assert relative.values.dtype == np.float32
        assert np.isfinite(relative.values).all()
        assert (relative.values >= 0).all()


def test_the_size_is_what_the_network_sees(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def note(path: Path, pixels: np.ndarray, where: str, weights: Path) -> np.ndarray:
        seen.append(pixels.shape)
        return np.ones((1, *pixels.shape[2:]), np.float32)

    monkeypatch.setattr("mrac.foundation.dav2_small.run_network", note)
    image = np.zeros((480, 640, 3), np.uint8)
    for options in ("", ",size=252", ",size=252,resize=original"):
        registry.create("foundation", f"dav2-small:path={weights}{options}")(image)
    assert seen == [(1, 3, 518, 686), (1, 3, 252, 336), (1, 3, 252, 336)]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The true architecture with random weights, saved by transformers: tensors are named as in the official file."""
    from tests.networks import published, toys  # noqa: PLC0415

    return toys.save(published.depth_anything("small"), tmp_path_factory.mktemp("small"))


@pytest.mark.lab
@pytest.mark.parametrize(
    ("size", "resize", "shapes"),
    [
        (112, "checkpoint", [(480, 640), (64, 48), (9, 400)]),
        (112, "original", [(480, 640), (64, 48), (60, 200)]),
        (518, "checkpoint", [(70, 70)]),  # where the position embeddings are taken as they are, not resized
    ],
)
def test_equals_the_torch_path(
    size: int, resize: str, shapes: list[tuple[int, int]], saved: Path, record_property: Callable[[str, object], None]
) -> None:
    (saved / "preprocessor_config.json").write_text(json.dumps({"size": {"height": size, "width": size}}))
    ours = registry.create("foundation", f"dav2-small:path={saved},size={size},resize={resize}")
    theirs = registry.create("foundation", f"dav2-small-torch:model={saved},resize={resize},device=cpu")
    for shape in shapes:
        image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
        expected, arrived = theirs(image).values, ours(image).values
        worst = float(np.abs(arrived - expected).max()) / float(np.ptp(expected))
        record_property(f"worst_{shape[0]}x{shape[1]}", worst)
        print(size, resize, shape, f"worst difference {worst:.2g} of the range")
        assert np.ptp(expected) > 1.0
        assert worst < 3e-5


def test_without_weights_the_error_says_what_to_do(home: Path) -> None:
    foundation = registry.create("foundation", "dav2-small")
    assert foundation.identity is None
    with pytest.raises(ContractError) as caught:
        foundation(PICTURE)
    assert str(caught.value) == (
        "foundation/dav2-small: its weights are not on this machine. Fetch them with: mrac fetch dav2-small. Without a "
        "network: copy https://huggingface.co/depth-anything/Depth-Anything-V2-Small-hf/resolve/main/model.safetensors "
        f"to {home}/mrac/dav2-small/model.safetensors, or name your copy: dav2-small:path=FILE"
    )
    with pytest.raises(ContractError, match=r"no file nowhere\. Fetch them with: mrac fetch dav2-small"):
        registry.create("foundation", "dav2-small:nowhere")(PICTURE)


def test_a_copy_by_hand_is_found_first(home: Path, weights: Path) -> None:
    cached = put_in_cache(home / "huggingface" / "hub", weights)
    assert DAV2_SMALL.find() == cached
    own = home / "mrac" / "dav2-small" / "model.safetensors"
    own.parent.mkdir(parents=True)
    own.symlink_to(weights)
    assert DAV2_SMALL.find() == own
    by_place = registry.create("foundation", "dav2-small:size=56")(PICTURE)
    by_path = registry.create("foundation", f"dav2-small:path={weights},size=56")(PICTURE)
    by_folder = registry.create("foundation", f"dav2-small:path={weights.parent},size=56")(PICTURE)
    np.testing.assert_array_equal(by_place.values, by_path.values)
    np.testing.assert_array_equal(by_place.values, by_folder.values)


@pytest.mark.parametrize(
    ("variable", "below"), [("HF_HOME", "hub"), ("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", "")]
)
def test_the_hub_s_variables_are_followed(
    variable: str, below: str, home: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(home / "elsewhere"))
    assert hub_cache() == home / "elsewhere" / below
    assert DAV2_SMALL.find() is None
    assert put_in_cache(home / "elsewhere" / below, weights) == DAV2_SMALL.find()


@pytest.mark.lab
def test_the_cache_is_where_the_hub_s_client_has_it(home: Path, weights: Path) -> None:
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415

    hub = home / "huggingface" / "hub"
    put_in_cache(hub, weights)
    theirs = try_to_load_from_cache(DAV2_SMALL.repository, DAV2_SMALL.file, cache_dir=hub)
    assert str(cached_file(DAV2_SMALL.repository, DAV2_SMALL.file)) == theirs


def test_the_identity_follows_weights_and_options(weights: Path, tmp_path: Path) -> None:
    def identity(**options: object) -> str | None:
        return DepthAnythingSmall(**{"path": str(weights), **options}).identity  # type: ignore[arg-type]

    other = tmp_path / "other.safetensors"
    other.write_bytes(b"1234567")
    found = [identity(), identity(size=252), identity(resize="original"), identity(path=str(other))]
    assert None not in found
    assert len(set(found)) == 4
    assert identity() == found[0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("size=500", "a multiple of 14 is needed, such as 504"),
        ("size=0", "from 14 to"),
        ("size=5000", "from 14 to"),
        ("size=x", "not a number"),
        ("resize=bigger", "one of checkpoint, original"),
        ("device=cuda", "no option 'device'"),
    ],
)
def test_options_are_checked(options: str, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        registry.create("foundation", f"dav2-small:{options}")


def test_another_network_s_weights_are_refused(tmp_path: Path, weights: Path) -> None:
    wide = {
        name: np.zeros((*shape[:-1], 1), np.float32) for name, shape in external_tensors(GRAPH.read_bytes()).items()
    }
    write_safetensors(tmp_path / "wide.safetensors", wide)
    with pytest.raises(ContractError, match="another network's file"):
        DepthAnythingSmall(str(tmp_path / "wide.safetensors"))(PICTURE)
    # V1 and the metric networks have the same tensors; only the settings beside them tell.
    (tmp_path / "model.safetensors").symlink_to(weights)
    v1 = {"backbone_config": {"out_indices": [9, 10, 11, 12]}}
    for stated in (v1, {"depth_estimation_type": "metric"}):
        (tmp_path / "config.json").write_text(json.dumps(stated))
        with pytest.raises(ContractError, match=r"is of another network .* hf:"):
            DepthAnythingSmall(str(tmp_path))(PICTURE)
    (tmp_path / "config.json").write_text(json.dumps({"backbone_config": {"out_indices": [3, 6, 9, 12]}}))
    assert DepthAnythingSmall(str(tmp_path), size=28)(PICTURE).values.shape == (48, 64)
