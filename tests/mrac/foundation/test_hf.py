"""The foundation `hf` on toy checkpoints: what it accepts, what it refuses, what it gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from mrac import ContractError, MissingExtra, registry
from mrac.foundation._depth_anything import DepthAnything
from mrac.foundation._dpt import Dpt
from mrac.foundation._family import inverse_depth, metric_depth
from mrac.foundation._zoedepth import ZoeDepth
from mrac.foundation.hf import HuggingFace
from tests.networks import published, toys

CONFIGS: dict[str, Callable[[], Any]] = {
    "depth_anything": toys.depth_anything,
    "depth_anything_metric": lambda: toys.depth_anything(metric_m=20),
    "dpt": toys.dpt,
    "dpt_beit": toys.dpt_beit,
    "zoedepth": toys.zoedepth,
    "depth_pro": toys.depth_pro,
}
SPACE = {"depth_anything_metric": "depth", "zoedepth": "depth"}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("checkpoints")
    return {name: toys.save(config(), home / name) for name, config in CONFIGS.items()}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return toys.save(toys.depth_anything(), tmp_path / "toy")


def picture(H: int, W: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(0).integers(0, 256, (H, W, 3), dtype=np.uint8)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("shape", [(32, 32), (61, 83), (33, 517), (519, 31), (1, 1)])
def test_every_family_at_every_shape(name: str, shape: tuple[int, int], checkpoints: dict[str, Path]) -> None:
    relative = HuggingFace(str(checkpoints[name]), device="cpu")(picture(*shape))
    assert relative.values.shape == shape
    assert relative.values.dtype == np.float32
    assert relative.space == SPACE.get(name, "inverse_depth")
    assert np.isfinite(relative.values).all()
    assert relative.values.min() >= 0.0


@pytest.mark.parametrize("name", CONFIGS)
def test_fifty_megapixels(name: str, checkpoints: dict[str, Path]) -> None:
    image = np.broadcast_to(np.arange(8192, dtype=np.uint16).astype(np.uint8)[None, :, None], (6144, 8192, 3))
    values = HuggingFace(str(checkpoints[name]), device="cpu")(image).values
    assert values.shape == (6144, 8192)
    assert np.isfinite(values[::97, ::97]).all()


@pytest.mark.parametrize("name", CONFIGS)
def test_half_precision_stays_close_and_is_not_quantised(name: str, checkpoints: dict[str, Path]) -> None:
    v, u = np.mgrid[0:60, 0:80]
    image = np.stack([u * 3, v * 4, (u + v)], axis=2).astype(np.uint8)
    single = HuggingFace(str(checkpoints[name]), device="cpu", dtype="float32")(image).values
    half = HuggingFace(str(checkpoints[name]), device="cpu", dtype="bfloat16")(image).values
    assert half.dtype == np.float32
    assert np.corrcoef(single.ravel(), half.ravel())[0, 1] > 0.95
    assert np.unique(half).size > 1000  # bfloat16 itself has 256 values between two powers of two


def test_original_resizing_of_depth_anything(checkpoints: dict[str, Path]) -> None:
    folder = str(checkpoints["depth_anything"])
    small = picture(30, 41)
    assert not np.array_equal(HuggingFace(folder)(small).values, HuggingFace(folder, resize="original")(small).values)


def test_original_resizing_of_dpt(checkpoints: dict[str, Path]) -> None:
    beit = Dpt(toys.dpt_beit(), {"size": 64}, "original", "here")
    assert beit.prepare(picture(60, 100)).shape == (3, 64, 96)
    assert HuggingFace(str(checkpoints["dpt_beit"]), resize="original")(picture(60, 100)).values.shape == (60, 100)
    with pytest.raises(ContractError, match="squares only"):
        HuggingFace(str(checkpoints["dpt"]), resize="original")(picture(60, 100))
    with pytest.raises(ContractError, match="squares only"):
        Dpt(published.dpt_large(), {"keep_aspect_ratio": True}, "checkpoint", "here")


def test_original_enlargement_is_linear_from_corner_to_corner() -> None:
    raw = torch.rand(14, 28, generator=torch.Generator().manual_seed(0))
    family = DepthAnything(published.depth_anything("small"), {}, "original", "here")
    expected = functional.interpolate(raw[None, None], size=(31, 57), mode="bilinear", align_corners=True)[0, 0]
    torch.testing.assert_close(family.finish(raw, (31, 57)), expected)


def test_bicubic_overshoot_ends_at_the_far_end_of_inverse_depth() -> None:
    step = torch.zeros(8, 8)
    step[:, 4:] = 10.0
    enlarged = functional.interpolate(step[None, None], size=(32, 32), mode="bicubic")[0, 0]
    assert enlarged.min() < -0.5
    family = DepthAnything(published.depth_anything("small"), {}, "checkpoint", "here")
    finished = family.finish(step, (32, 32))
    torch.testing.assert_close(finished, enlarged.clamp_min(0))
    assert torch.isnan(inverse_depth(torch.tensor([torch.nan, -1.0, 2.0]))).tolist() == [True, False, False]


def test_bicubic_overshoot_leaves_no_hole_in_metres() -> None:
    step = torch.full((8, 8), 0.5)
    step[:, 4:] = 20.0
    values = metric_depth(step, (32, 32))
    assert values.min() > 0.0
    step[0, 0] = torch.inf
    assert torch.isnan(metric_depth(step, (32, 32))[0, 0])
    assert torch.isnan(metric_depth(torch.zeros(2, 2), (4, 4))).all()


def test_what_the_folder_states_is_followed(checkpoint: Path) -> None:
    image = picture(60, 80)
    before = HuggingFace(str(checkpoint))(image).values
    stated = json.loads((checkpoint / "preprocessor_config.json").read_text())
    (checkpoint / "preprocessor_config.json").write_text(json.dumps(stated | {"image_mean": [0.1, 0.2, 0.3]}))
    assert not np.array_equal(before, HuggingFace(str(checkpoint))(image).values)


def test_identity_names_all_that_changes_the_output(checkpoint: Path) -> None:
    made = [
        HuggingFace(str(checkpoint)),
        HuggingFace(str(checkpoint), resize="original"),
        HuggingFace(str(checkpoint), dtype="bfloat16"),
    ]
    names = {foundation.identity for foundation in made}
    assert None not in names
    config = (checkpoint / "config.json").read_text()
    (checkpoint / "config.json").write_text(config + "\n")
    names.add(made[0].identity)
    toys.save(toys.depth_anything(), checkpoint)
    (checkpoint / "config.json").write_text(config)
    names.add(made[0].identity)
    assert len(names) == 5
    assert made[0].identity == HuggingFace(str(checkpoint)).identity
    assert HuggingFace("nobody/nothing").identity is None


def test_v1_indices_under_the_name_of_v2_are_refused(tmp_path: Path) -> None:
    v1 = published.depth_anything("small", version=1)
    with pytest.raises(ContractError, match=r"says V2.*\[9, 10, 11, 12\].*V1.*\[3, 6, 9, 12\]"):
        DepthAnything(v1, {}, "checkpoint", "foundation/hf: someone/Depth-Anything-V2-Small-hf")
    DepthAnything(v1, {}, "checkpoint", "foundation/hf: LiheYoung/depth-anything-small-hf")
    DepthAnything(published.depth_anything("large"), {}, "checkpoint", "foundation/hf: my/depth_anything_v2_large")
    with pytest.raises(ContractError, match=r"\[5, 12, 18, 24\]"):
        DepthAnything(published.depth_anything("large", version=1), {}, "checkpoint", "foundation/hf: dav2-l")


def test_pickled_weights_are_refused(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").rename(checkpoint / "pytorch_model.bin")
    with pytest.raises(ContractError, match=r"pytorch_model\.bin, a pickle .* no \.safetensors"):
        HuggingFace(str(checkpoint))(picture(32, 32))
    (checkpoint / "pytorch_model.bin").unlink()
    with pytest.raises(ContractError, match=r"holds no \.safetensors$"):
        HuggingFace(str(checkpoint))(picture(32, 32))


def test_weights_of_another_network_are_refused(checkpoint: Path) -> None:
    config = json.loads((checkpoint / "config.json").read_text())
    config["backbone_config"]["num_hidden_layers"] = 6
    (checkpoint / "config.json").write_text(json.dumps(config))
    with pytest.raises(ContractError, match=r"lack \d+ tensors"):
        HuggingFace(str(checkpoint))(picture(32, 32))


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("config.json", "{", "config.json"),
        ("config.json", "[]", "JSON object"),
        ("config.json", '{"model_type": "bert"}', "'bert'; one of depth_anything"),
        ("preprocessor_config.json", '{"do_resize": false}', "do_resize"),
        ("model.safetensors", "nonsense", "could not be loaded"),
    ],
)
def test_damaged_folders_are_named_in_one_line(file: str, content: str, says: str, checkpoint: Path) -> None:
    (checkpoint / file).write_text(content)
    with pytest.raises(ContractError, match=says) as caught:
        HuggingFace(str(checkpoint))(picture(32, 32))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", ["resize=best", "dtype=int8", "device=warp", "device=cuda:99"])
def test_options_are_checked(option: str, checkpoint: Path) -> None:
    with pytest.raises(ContractError, match=option.partition("=")[2]):
        registry.create("foundation", f"hf:model={checkpoint},{option}")(picture(32, 32))


def test_without_torch_the_extra_is_named(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtra, match=r'pip install "mrac-depth\[torch\]"'):
        HuggingFace(str(checkpoint))(picture(32, 32))
    assert HuggingFace(str(checkpoint)).identity is None


def test_loading_leaves_the_user_s_logging_alone(checkpoint: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from transformers.utils import logging  # noqa: PLC0415

    capfd.readouterr()  # what saving the toy said
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    HuggingFace(str(checkpoint))(picture(32, 32))
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
    assert capfd.readouterr() == ("", "")


def test_zoedepth_is_averaged_with_its_mirror_image_and_cut_to_size() -> None:
    torch.manual_seed(0)
    model = published.lively(published.build(toys.zoedepth()))
    family = ZoeDepth(model.config, {"size": 64}, "checkpoint", "here")
    image = picture(61, 83)
    pixels = torch.from_numpy(family.prepare(image))[None]
    with torch.inference_mode():
        both = [model(pixel_values=p).predicted_depth for p in (pixels, torch.flip(pixels, [3]))]
        mean = (both[0] + torch.flip(both[1], [-1])) / 2
        pad_v, pad_u = int(np.sqrt(61 / 2) * 3), int(np.sqrt(83 / 2) * 3)
        large = functional.interpolate(mean[None], size=(61 + 2 * pad_v, 83 + 2 * pad_u), mode="bicubic")[0, 0]
        ours = family.finish(family.predict(model, pixels), (61, 83))
    torch.testing.assert_close(ours, large[pad_v:-pad_v, pad_u:-pad_u])
