"""Which device runs, on machines with and without its packages; what the errors say; no trace in the home folder."""

import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import onnxruntime
import pytest

from mrac import ContractError
from mrac.runtime import onnx_session, providers
from mrac.runtime.onnx_session import network_identity, run_network, running_on, used_device
from mrac.runtime.parallel import num_cores
from mrac.runtime.providers import DEVICE_NAMES, DEVICES, PREFERRED, checked_device, choose, problem, runtime_version
from tests.mrac.runtime.test_onnx_session import A, B, write_difference
from tests.onnx_file import Node, write_onnx
from tests.providers import CPU, CUDA, GPU_PACKAGE, TENSORRT, machine_with

PLAIN = {"onnxruntime": "1.31.1"}
OTHERS = [name for name in DEVICES if name != "cpu"]
SOURCE = Path(providers.__file__).parents[2]


@pytest.mark.parametrize("name", OTHERS)
def test_a_device_without_its_provider_is_an_error_that_names_the_package(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with machine_with([CPU], PLAIN), pytest.raises(ContractError) as error:
        checked_device(name, "Calibrator")
    said = str(error.value)
    assert said.startswith(f"Calibrator: device {name}: onnxruntime 1.31.1 has no {DEVICES[name].providers[0]}; ")
    assert f"`pip uninstall -y onnxruntime`, then `pip install {DEVICES[name].package}`" in said
    assert "\n" not in said


def test_core_ml_elsewhere_than_on_macos_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    with machine_with([CPU], PLAIN), pytest.raises(ContractError, match="macOS alone; or choose another device"):
        checked_device("coreml", "Calibrator")


def test_two_packages_in_one_folder_are_named_with_the_commands_that_mend_it() -> None:
    with machine_with([CPU], {**PLAIN, **GPU_PACKAGE}):
        with pytest.raises(ContractError) as error:
            checked_device("cuda", "Calibrator")
        assert "cuda: onnxruntime and onnxruntime-gpu are installed together and overwrite" in choose("auto").reason
    assert "overwrite each other's files, CUDAExecutionProvider is gone" in str(error.value)
    assert "`pip uninstall -y onnxruntime onnxruntime-gpu`, then `pip install onnxruntime-gpu`" in str(error.value)


def test_an_unknown_device_is_told_the_known_ones() -> None:
    with pytest.raises(ContractError, match=r"device 'gpu' arrived; one of cpu, cuda, tensorrt, .*, auto is needed"):
        checked_device("gpu", "Calibrator")


@pytest.mark.parametrize("fails", ["", "CUDA failure 100: no CUDA-capable device\nand a page of paths"])
def test_a_provider_that_is_listed_and_does_not_load_is_an_error(fails: str, tmp_path: Path) -> None:
    write_difference(tmp_path / "net.onnx")
    with machine_with([CUDA, CPU], GPU_PACKAGE, loading=[CPU], fails=fails), running_on("cuda"):
        assert checked_device("cuda", "Calibrator") == "cuda", "a driver is not looked for before it is needed"
        with pytest.raises(ContractError) as error:
            run_network(tmp_path / "net.onnx", {"left": A, "right": B}, "x")
        assert choose("auto").device.name == "cpu"
        assert "CUDAExecutionProvider of onnxruntime-gpu 1.31.1 does not load" in choose("auto").reason
    assert 'pip install "onnxruntime-gpu[cuda,cudnn]"' in str(error.value)
    assert fails.partition("\n")[0] in str(error.value)
    assert "\n" not in str(error.value)


def test_a_network_that_loses_the_provider_is_an_error_too(tmp_path: Path) -> None:
    write_difference(tmp_path / "net.onnx")
    with (
        machine_with([CUDA, CPU], GPU_PACKAGE, loading=[CPU]),
        running_on("cuda"),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(providers, "problem", lambda name: None)  # as if the small network had loaded
        with pytest.raises(ContractError, match=r"^x: .*net\.onnx: device cuda: .*does not load"):
            run_network(tmp_path / "net.onnx", {"left": A, "right": B}, "x")


@pytest.mark.parametrize(
    ("listed", "chosen", "passed"),
    [
        ([TENSORRT, CUDA, CPU], "cuda", []),
        (["CoreMLExecutionProvider", CPU], "coreml", ["cuda"]),
        (["OpenVINOExecutionProvider", CPU], "openvino", ["cuda", "coreml"]),
        ([CPU], "cpu", ["cuda", "coreml", "openvino"]),
    ],
)
def test_auto_takes_the_first_that_loads_and_says_once_why(
    listed: list[str], chosen: str, passed: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with machine_with(listed, PLAIN), caplog.at_level(logging.INFO, "mrac"):
        choices = [choose("auto") for _ in range(3)]
    assert {choice.device.name for choice in choices} == {chosen}
    assert [part.partition(":")[0] for part in choices[0].reason.split("; ") if part] == passed
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"device auto is {chosen}")
    assert caplog.messages[0].endswith(choices[0].reason)


def test_a_network_is_loaded_once_for_each_device_and_the_call_says_what_ran(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    write_difference(path)
    with machine_with([TENSORRT, CUDA, CPU], GPU_PACKAGE) as machine:
        for name in ("cpu", "cuda", "tensorrt", "cuda", "auto", "cpu"):
            with running_on(name):
                assert not used_device().providers
                assert run_network(path, {"left": A, "right": B}, "x").tolist() == [[-2.0, -2.0]]
                assert used_device().asked == name
                expected = {"auto": CUDA} | {device.name: device.providers[0] for device in DEVICES.values()}
                assert used_device().providers == {"x": expected[name]}
        assert machine.asked == [(str(path), list(DEVICES[name].providers)) for name in ("cpu", "cuda", "tensorrt")]
        assert machine.options[CUDA] == {"use_tf32": "0"}
        assert machine.preloads > 0
    assert used_device().asked == "cpu", "outside of a call"


def test_openvino_computes_in_single_precision_on_as_many_threads_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    write_difference(path)
    openvino = DEVICES["openvino"].providers[0]
    with machine_with([openvino, CPU], PLAIN) as machine, running_on("openvino"):
        run_network(path, {"left": A, "right": B}, "x")
        given = machine.options[openvino]
    asked = json.loads(given["load_config"])["CPU"]
    assert given["device_type"] == "CPU"
    assert asked["INFERENCE_PRECISION_HINT"] == "f32"
    assert asked["PERFORMANCE_HINT"] == "LATENCY"
    assert asked["INFERENCE_NUM_THREADS"] == str(num_cores())


def test_tensorrt_and_cuda_find_cuda_s_libraries_and_the_others_do_not_look_for_them() -> None:
    listed = [provider for device in DEVICES.values() for provider in device.providers]
    for name in DEVICES:
        with machine_with(listed, GPU_PACKAGE) as machine:
            assert problem(name) is None
        assert (machine.preloads > 0) == (name in ("cuda", "tensorrt"))


def test_predictions_of_a_device_are_stored_apart(tmp_path: Path) -> None:
    write_difference(tmp_path / "net.onnx")
    found = {}
    with machine_with([CUDA, CPU], PLAIN):
        for name in ("cpu", "cuda", "auto"):
            with running_on(name):
                found[name] = network_identity(tmp_path / "net.onnx")
    assert found["auto"] == found["cuda"] != found["cpu"]
    with machine_with([CPU], PLAIN), running_on("auto"):
        assert network_identity(tmp_path / "net.onnx") == found["cpu"]


def test_the_version_is_that_of_whatever_package_is_there() -> None:
    with machine_with([CPU], GPU_PACKAGE):
        assert runtime_version() == "onnxruntime-gpu 1.31.1"
    with machine_with([CPU], {}):
        assert runtime_version() == f"onnxruntime {onnxruntime.__version__}"


def test_the_smallest_network_is_an_identity(tmp_path: Path) -> None:
    write_onnx(tmp_path / "a.onnx", [Node("Identity", ["x"], "y")], {"x": (1,)}, {"y": (1,)})
    assert (tmp_path / "a.onnx").read_bytes() == providers._SMALLEST
    assert problem("cpu") is None


def test_every_device_ends_on_the_processor_and_auto_takes_known_ones() -> None:
    assert all(device.providers[-1] == CPU for device in DEVICES.values())
    assert set(PREFERRED) < set(DEVICES)
    assert PREFERRED[-1] == "cpu"
    assert (*DEVICES, "auto") == DEVICE_NAMES
    assert onnx_session.DeviceUse().asked in DEVICES


@pytest.mark.parametrize("chosen", [None, "0"])
def test_nothing_is_written_to_the_home_folder_unless_the_user_permits_telemetry(
    chosen: str | None, tmp_path: Path
) -> None:
    """From 1.31 on, onnxruntime writes an identifier of the machine there, but not in continuous integration."""
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(SOURCE)} | (
        {} if chosen is None else {"ORT_DISABLE_TELEMETRY": chosen}
    )
    code = (
        "import os, numpy as np; from mrac.foundation.embedded import Embedded; "
        "Embedded(mirror=False)(np.zeros((32, 32, 3), np.uint8)); print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (chosen or "1")
    if chosen is None:
        assert list(tmp_path.rglob("*")) == []


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace, which sees every call to the network, is not there")
def test_a_calibration_asks_nobody_on_the_network(tmp_path: Path) -> None:
    """With its telemetry on, onnxruntime asks DNS for its vendor: a native library, so the system is asked."""
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(SOURCE), "MRAC_CACHE": "off"}
    code = (
        "import numpy as np; from mrac import Anchors, Calibrator; "
        "print(Calibrator()(np.zeros((32, 32, 3), np.uint8), Anchors([[3, 3], [20, 9]], [1.0, 2.0])).stages)"
    )
    log = tmp_path.parent / f"{tmp_path.name}.log"
    trace = ["strace", "-f", "-e", "trace=socket,connect,sendto,sendmsg", "-o", str(log)]
    done = subprocess.run(
        [*trace, sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    if "ptrace" in done.stderr.lower():
        pytest.skip("this system does not permit tracing")
    assert done.returncode == 0, done.stderr
    assert "embedded" in done.stdout
    calls = [line for line in log.read_text().splitlines() if "AF_INET" in line or "AF_NETLINK" in line]
    assert calls == []
    assert list(tmp_path.rglob("*")) == []
