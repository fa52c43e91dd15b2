"""What every foundation, head and method does with the calibrator's device: its networks run there, and say so."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from mrac import Anchors, Calibrator, ContractError, registry
from mrac.cli.calibrate import COMMAND as CALIBRATE
from mrac.cli.list import COMMAND as LIST
from tests.conftest import MadeScene
from tests.onnx_file import Node, write_onnx
from tests.providers import CPU, CUDA, GPU_PACKAGE, machine_with

NETWORKS = {"residual_unet": 1, "raw_unet": 1, "sml": 1}  # heads with one; the others have none
CARD = {"input_size": [4, 6], "mean": [0, 0, 0], "std": [1, 1, 1], "space": "inverse_depth"}
Scenes = Callable[..., MadeScene]


def write_copy(folder: Path) -> str:
    """A foundation `onnx:FILE` of four rows and six columns: one of its input's colours, by a product with weights."""
    write_onnx(
        folder / "copy.onnx",
        [Node("Conv", ["x", "w"], "y")],
        {"x": (1, 3, 4, 6)},
        {"y": (1, 1, 4, 6)},
        {"w": np.array([[[[0.2]], [[0.3]], [[0.5]]]], np.float32)},
    )
    (folder / "copy.json").write_text(json.dumps(CARD))
    return f"onnx:{folder / 'copy.onnx'}"


@pytest.mark.parametrize("name", registry.names("head"))
def test_the_networks_of_every_head_run_on_the_device(name: str, make_scene: Scenes) -> None:
    head = registry.create("head", name)
    space = head.trained_space  # from the file's metadata, outside of a call
    made = make_scene(space=space or "inverse_depth")
    noise = np.random.default_rng(0).uniform(0.9, 1.1, len(made.anchors))  # without any, there is nothing to correct
    with machine_with([CUDA, CPU], GPU_PACKAGE) as machine:
        calibrator = Calibrator(gate="none", fit="ols", head=head, space=space, device="cuda")
        result = calibrator(made.image, Anchors(made.anchors.uv_px, made.anchors.z_m * noise), made.relative)
    assert [providers for _, providers in machine.asked] == [[CUDA, CPU]] * NETWORKS.get(name, 0)
    assert result.device.asked == "cuda"
    assert result.device.providers == ({f"head/{name}": CUDA} if name in NETWORKS else {})


@pytest.mark.parametrize("kind", ["embedded", "onnx"])
def test_the_networks_of_foundations_run_on_the_device(kind: str, make_scene: Scenes, tmp_path: Path) -> None:
    made, spec = make_scene(), write_copy(tmp_path) if kind == "onnx" else kind
    with machine_with([CUDA, CPU], GPU_PACKAGE) as machine:
        on_gpu = Calibrator(foundation=spec, device="cuda")(made.image, made.anchors)
        on_cpu = Calibrator(foundation=spec)(made.image, made.anchors)
        Calibrator(foundation=spec, device="cuda").fixed(made.image, made.anchors, ["units"])
    assert [providers for _, providers in machine.asked] == [[CUDA, CPU], [CPU]]
    assert on_gpu.device.providers == {f"foundation/{kind}": CUDA}
    assert on_cpu.device.providers == {f"foundation/{kind}": CPU}


def test_no_file_of_a_stage_loads_a_network_by_itself() -> None:
    """Otherwise it would run on the CPU whatever the device is."""
    source = Path(registry.__file__).parent
    found = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "InferenceSession(" in path.read_text(encoding="utf-8") and "lab" not in path.relative_to(source).parts
    ]
    assert found == ["runtime/providers.py"]


def test_calibrators_of_two_devices_work_in_threads_at_the_same_time(make_scene: Scenes, tmp_path: Path) -> None:
    made, spec = make_scene(), write_copy(tmp_path)
    together = threading.Barrier(2)

    def run(device: str) -> list[dict[str, str]]:
        calibrator = Calibrator(foundation=spec, gate="none", fit="ols", head="affine", device=device)
        together.wait()
        return [one.device.providers for one in calibrator.batch([(made.image, made.anchors)] * 8, workers=2)]

    with machine_with([CUDA, CPU], GPU_PACKAGE), ThreadPoolExecutor(2) as pool:
        on_cpu, on_gpu = pool.map(run, ["cpu", "cuda"])
    assert on_cpu == [{"foundation/onnx": CPU}] * 8
    assert on_gpu == [{"foundation/onnx": CUDA}] * 8


def test_the_device_is_part_of_the_configuration(tmp_path: Path) -> None:
    with machine_with([CUDA, CPU], GPU_PACKAGE):
        made = Calibrator(device="cuda")
        made.save_config(tmp_path / "a.toml")
        again = Calibrator.from_config(tmp_path / "a.toml")
        assert (again.device, repr(again), again.config()) == ("cuda", repr(made), made.config())
        assert repr(made).endswith("head='kriging', device='cuda')")
    assert "device" not in Calibrator().config()
    with machine_with([CPU], GPU_PACKAGE), pytest.raises(ContractError, match="has no CUDAExecutionProvider"):
        Calibrator.from_config(tmp_path / "a.toml")
    with pytest.raises(ContractError, match="config: device: 3 arrived"):
        Calibrator.from_config({"device": 3})


@pytest.fixture
def files(make_scene: Scenes, tmp_path: Path) -> list[str]:
    made = make_scene()
    Image.fromarray(made.image).save(tmp_path / "a.png")
    rows = [f"{u},{v},{z}" for (u, v), z in zip(made.anchors.uv_px, made.anchors.z_m, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["u,v,z_m", *rows]))
    spec = write_copy(tmp_path)
    names = ["--anchors", str(tmp_path / "a.csv"), "--out", str(tmp_path / "o"), "--foundation", spec, "--no-cache"]
    return [str(tmp_path / "a.png"), *names, "--gate", "none", "--head", "affine"]


def call(*words: str, **environment: str) -> Any:
    return CliRunner().invoke(CALIBRATE, words, env=environment, catch_exceptions=True)


def test_the_command_line_takes_a_device_and_says_what_ran(files: list[str], tmp_path: Path) -> None:
    with machine_with([CUDA, CPU], GPU_PACKAGE):
        done = call(*files, "--device", "cuda", "-v")
    assert "device: cuda; foundation/onnx on CUDAExecutionProvider\n" in done.output
    report = json.loads((tmp_path / "o" / "report.json").read_text())
    assert report["device"] == {"asked": "cuda", "providers": {"foundation/onnx": CUDA}, "reason": ""}
    assert report["versions"]["onnxruntime-gpu"] == "1.31.1"
    with machine_with([CPU], GPU_PACKAGE):
        done = call(*files, "-v", MRAC_DEVICE="auto")
    assert "device: auto; foundation/onnx on CPUExecutionProvider (cuda: onnxruntime-gpu 1.31.1 has no" in done.output
    with machine_with([CPU], GPU_PACKAGE):
        done = call(*files, "--device", "cuda")
    assert isinstance(done.exception, ContractError)


def test_the_list_of_devices_says_which_is_there_and_what_to_install() -> None:
    with machine_with([CUDA, CPU], GPU_PACKAGE):
        done = CliRunner().invoke(LIST, ["devices", "--json"], catch_exceptions=False)
    said = {entry["name"]: entry["summary"] for entry in json.loads(done.output)["devices"]}
    assert [name for name, text in said.items() if text.endswith("It is there.")] == ["cpu", "cuda"]
    assert "then `pip install onnxruntime-openvino`." in said["openvino"]
    assert "overwrite" not in said["auto"]
    with machine_with([CUDA, CPU], {"onnxruntime": "1.31.1", **GPU_PACKAGE}):
        done = CliRunner().invoke(LIST, ["devices"], catch_exceptions=False)
    assert "are installed together and overwrite" in " ".join(done.output.split())
