"""What the heads are trained on: relative depth as the pipeline sees it, from a network that never saw the frame."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from rich.console import Console
from torch import Tensor

from mrac import ContractError, RelativeDepth
from mrac.foundation import embedded
from mrac.foundation.embedded import Embedded
from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.head._rendering import working_size
from mrac.lab.train.folds import fold_of
from mrac.lab.train.foundation.checkpoint import save_network
from mrac.lab.train.frames import Frames
from mrac.lab.train.heads import data as head_data
from mrac.lab.train.heads.data import (
    DataOptions,
    FromFoundation,
    OutOfFold,
    load_head_frames,
    measured_only,
    shrunk,
    with_relative,
)
from mrac.lab.train.heads.residual_network import normalise_relative
from mrac.relative import in_space
from tests.lab.train import tiny

CPU, QUIET = torch.device("cpu"), Console(quiet=True)
NARROW = NetworkOptions(0, (16, 16, 16, 16, 8), 1)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRAC_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return tiny.write_pack(tmp_path / "pack")


def constant(frames: Frames) -> Iterable[tuple[int, RelativeDepth]]:
    """Each frame's number as log depth, from the last to the first."""
    for i in reversed(range(len(frames))):
        yield i, RelativeDepth(np.full(frames.z_m.shape[1:], i, np.float32), "log_depth")


def test_fields_are_those_of_the_pipeline(pack: Path) -> None:
    (frames,) = load_head_frames(DataOptions(folder=pack, predictor=FromFoundation("embedded")), CPU, QUIET)
    assert len(frames) == 6
    assert frames.native
    foundation = Embedded()
    for image, x, normal in zip(frames.frames.images, frames.x, frames.normal, strict=True):
        expected = in_space(foundation(image.permute(1, 2, 0).numpy()), "depth")
        assert torch.equal(x, torch.from_numpy(expected.values))
        assert torch.equal(normal, normalise_relative(x[None])[0])


def test_each_image_is_predicted_once_ever(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    predict = Embedded.__call__

    def counted(self: Embedded, image: np.ndarray) -> RelativeDepth:
        calls.append(1)
        return predict(self, image)

    monkeypatch.setattr(Embedded, "__call__", counted)
    options = DataOptions(folder=pack, predictor=FromFoundation("embedded"))
    first, again = (load_head_frames(options, CPU, QUIET)[0] for _ in range(2))
    assert len(calls) == 6
    assert torch.equal(first.x, again.x)


def test_fields_come_back_to_their_frames_in_any_order() -> None:
    frames = with_relative(tiny.frames(5), constant, "log_depth", QUIET)
    assert frames.x[:, 0, 0].tolist() == [0, 1, 2, 3, 4]


def test_a_field_of_another_space_is_not_native() -> None:
    def inverse(frames: Frames) -> Iterable[tuple[int, RelativeDepth]]:
        return ((i, RelativeDepth(1.0 / z.numpy(), "inverse_depth")) for i, z in enumerate(frames.z_m))

    assert not with_relative(tiny.frames(2), inverse, "depth", QUIET).native
    assert with_relative(tiny.frames(2), inverse, "inverse_depth", QUIET).native


def test_the_field_may_be_of_another_space_than_the_line() -> None:
    """As the paper has it: lines in depth, on a field of inverse depth."""
    depth_m = np.linspace(1.0, 5.0, tiny.frames(2).z_m[0].numel(), dtype=np.float32).reshape(
        tiny.frames(2).z_m[0].shape
    )

    def log_depth(frames: Frames) -> Iterable[tuple[int, RelativeDepth]]:
        return [(i, RelativeDepth(np.log(depth_m), "log_depth")) for i in range(len(frames))]

    own = with_relative(tiny.frames(2), log_depth, "depth", QUIET)
    other = with_relative(tiny.frames(2), log_depth, "depth", QUIET, "inverse_depth")
    assert (own.native, other.native) == (True, False)
    torch.testing.assert_close(own.x * other.x, torch.ones_like(own.x))


def test_holes_in_a_field_are_filled() -> None:
    def holed(frames: Frames) -> Iterable[tuple[int, RelativeDepth]]:
        for i, z in enumerate(frames.z_m):
            values = z.numpy().copy()
            values[:5] = np.inf
            values[10, 10] = np.nan
            yield i, RelativeDepth(values, "depth")

    assert bool(with_relative(tiny.frames(2), holed, "depth", QUIET).x.isfinite().all())


def test_a_foundation_without_an_opinion_is_one_line(pack: Path) -> None:
    with pytest.raises(ContractError, match="'none' gives no relative depth"):
        load_head_frames(DataOptions(folder=pack, predictor=FromFoundation("none")), CPU, QUIET)


def test_the_sky_is_not_measured_and_a_blank_frame_is_left_out() -> None:
    frames = tiny.frames(3)
    frames.z_m[0, :10] = torch.inf
    frames.z_m[1] = 0.0
    frames.z_m[1, 0, 0] = 2.0
    kept = measured_only(frames)
    assert kept.names == ("a/0", "a/2")
    assert bool((kept.z_m[0, :10] == 0).all())
    assert bool(kept.z_m.isfinite().all())


def test_a_limit_is_spread_over_the_pack(pack: Path) -> None:
    options = DataOptions(folder=pack, predictor=constant, limit=3)
    (frames,) = load_head_frames(options, CPU, QUIET)
    assert frames.frames.names in (("toy/0", "toy/2", "toy/5"), ("toy/0", "toy/3", "toy/5"))


def test_the_digest_is_of_names_pixels_truth_and_relative_depth() -> None:
    def digest(change: str = "") -> str:
        frames = with_relative(tiny.frames(2), constant, "log_depth", QUIET)
        maps: dict[str, Tensor] = {"image": frames.frames.images, "z_m": frames.frames.z_m, "x": frames.x}
        if change:
            maps[change][1, ..., 3, 3] += 1
        return frames.digest()

    assert digest() == digest()
    assert len({digest(), digest("image"), digest("z_m"), digest("x")}) == 4


def networks(folder: Path, num: int, options: NetworkOptions = NARROW) -> tuple[Path, ...]:
    files = []
    for number in range(num):
        torch.manual_seed(number)
        network = DepthNetwork(options)
        torch.nn.init.normal_(network.out.weight, 0, 1.0)
        files.append(folder / f"fold{number}.safetensors")
        save_network(network, files[-1], {"options": json.dumps({"network": asdict(options)})})
    return tuple(files)


def test_a_frame_is_predicted_by_the_network_that_never_saw_its_scene(tmp_path: Path) -> None:
    frames = tiny.frames(8)
    assert len({fold_of("a", scene, 2) for scene in frames.scenes}) == 2
    files = networks(tmp_path, 2)
    both = dict(OutOfFold(files)(frames))
    assert sorted(both) == list(range(8))
    for number, file in enumerate(files):
        alone = dict(OutOfFold((file,))(frames))
        for i, scene in enumerate(frames.scenes):
            same = np.allclose(both[i].values, alone[i].values, atol=1e-4)
            assert same == (fold_of("a", scene, 2) == number)


def test_a_set_of_one_place_is_predicted_by_one_network(tmp_path: Path) -> None:
    frames = tiny.frames(4, "hololens")
    files = networks(tmp_path, 3)
    fields, second = dict(OutOfFold(files)(frames)), dict(OutOfFold(files[1:2])(frames))
    assert sorted(fields) == list(range(4))
    for i in range(4):
        np.testing.assert_allclose(fields[i].values, second[i].values, atol=1e-4)


def test_frames_that_every_network_saw_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="camvid is in no fold"):
        with_relative(tiny.frames(2, "camvid"), OutOfFold(networks(tmp_path, 2)), "depth", QUIET)


def test_depth_that_nobody_measured_is_not_learnt_from(pack: Path) -> None:
    (pack / "manifest.csv").write_text("set,id,scene,rgb,label,sky_id\ncamvid,0,a,0.png,0_depth.png,0\n")
    with pytest.raises(ContractError, match="no row with a depth file"):
        load_head_frames(DataOptions(folder=pack, predictor=constant), CPU, QUIET)


def test_on_the_device_a_network_says_what_the_foundation_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a head is trained on is what it meets in use: same size of the input, same mirror, same way back."""
    (file,) = networks(tmp_path, 1)
    network = head_data._load(file).eval()

    def run(path: Path, *batches_and_where: Any) -> tuple[np.ndarray, ...]:
        with torch.no_grad():  # of the picture and its mirror image
            return tuple(np.asarray(network(torch.from_numpy(batch))) for batch in batches_and_where[:-1])

    monkeypatch.setattr(embedded, "run_network_twice", run)
    (tmp_path / "fold.onnx").write_bytes(b"a file of that name")
    frames = tiny.frames(3)
    frames.images[..., 40:] //= 3  # so that left and right can be told apart
    ours = dict(OutOfFold((file,))(frames))
    theirs = dict(OutOfFold((tmp_path / "fold.onnx",))(frames))
    for i in range(3):
        assert ours[i].space == theirs[i].space == "log_depth"
        # Two libraries resize the picture, and one of them rounds it to whole grey levels.
        difference = np.abs(ours[i].values - theirs[i].values).mean()
        assert difference < 0.2 * np.abs(theirs[i].values - theirs[i].values[:, ::-1]).mean(), "not the same view"
        assert difference < 0.2 * theirs[i].values.std()


def test_a_file_that_is_no_network_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"nothing")
    with pytest.raises(ContractError, match=r"a\.safetensors is not a network"):
        list(OutOfFold((tmp_path / "a.safetensors",))(tiny.frames(2)))


def test_shrunk_frames_are_what_the_runtime_shows_its_network() -> None:
    frames = with_relative(tiny.frames(2, size=(60, 90)), FromFoundation("embedded"), "depth", QUIET)
    frames.frames.z_m[:, ::7] = 0.0
    small = shrunk(frames, 30 * 45)
    assert small.x.shape == (2, *working_size((60, 90), 30 * 45)) == (2, 30, 45)
    for i in range(2):
        picture = Image.fromarray(frames.frames.images[i].permute(1, 2, 0).numpy())
        image = np.asarray(picture.resize((45, 30), Image.Resampling.BOX)).astype(int)
        assert np.abs(small.frames.images[i].permute(1, 2, 0).numpy() - image).max() <= 1
        x = np.asarray(Image.fromarray(frames.x[i].numpy()).resize((45, 30), Image.Resampling.BOX))
        np.testing.assert_allclose(small.x[i], x, rtol=1e-5)
        readings = set(frames.frames.z_m[i].flatten().tolist())
        assert set(small.frames.z_m[i].flatten().tolist()) <= readings, "a depth that nothing has"
        # The normalised field is that of the whole frame: percentiles of the small one would differ.
        whole = frames.normal[i].view(30, 2, 45, 2).mean(dim=(1, 3))
        torch.testing.assert_close(small.normal[i], whole)
    assert shrunk(frames, 60 * 90) is frames
