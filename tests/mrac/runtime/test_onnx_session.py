"""One loaded network per file, for all threads, by name of its inputs; mistakes in one line."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from mrac import ContractError
from mrac.runtime import onnx_session
from mrac.runtime.onnx_session import beside_network, network_metadata, run_network
from mrac.runtime.parallel import num_cores
from mrac.runtime.weight_files import WEIGHTS
from tests.onnx_file import Node, write_onnx

A, B = np.full((1, 2), 3.0, np.float32), np.full((1, 2), 5.0, np.float32)


def write_difference(path: Path, about: dict[str, str] | None = None, operation: str = "Sub") -> None:
    """Two inputs of shape (1, 2), left and right, and their difference."""
    pair = {"left": (1, 2), "right": (1, 2)}
    write_onnx(path, [Node(operation, ["left", "right"], "out")], pair, {"out": (1, 2)}, metadata=about)


@pytest.fixture(autouse=True)
def no_sessions() -> Iterator[None]:
    onnx_session._sessions.clear()
    yield
    onnx_session._sessions.clear()


def test_inputs_go_by_name(tmp_path: Path) -> None:
    write_difference(tmp_path / "net.onnx")
    assert run_network(tmp_path / "net.onnx", {"right": B, "left": A}, "x").tolist() == [[-2.0, -2.0]]
    assert run_network(tmp_path / "net.onnx", {"left": B, "right": A}, "x").tolist() == [[2.0, 2.0]]


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"left": A}, r"did not take float32 inputs left of shape \(1, 2\): .*right"),
        ({"left": A, "middle": B}, "middle"),
        ({"left": A, "right": B[:, :1]}, r"right of shape \(1, 1\)"),
        (A, r"did not take a float32 input of shape \(1, 2\): .*right"),
    ],
)
def test_inputs_that_do_not_fit_are_one_line(inputs: dict[str, np.ndarray], says: str, tmp_path: Path) -> None:
    write_difference(tmp_path / "net.onnx")
    with pytest.raises(ContractError, match=says) as error:
        run_network(tmp_path / "net.onnx", inputs, "head/x")
    assert str(error.value).startswith("head/x: ")
    assert "net.onnx" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_tells_about_itself(tmp_path: Path) -> None:
    write_difference(tmp_path / "net.onnx", {"mrac.kind": "difference"})
    assert network_metadata(tmp_path / "net.onnx", "x") == {"mrac.kind": "difference"}
    write_difference(tmp_path / "silent.onnx")
    assert network_metadata(tmp_path / "silent.onnx", "x") == {}
    with pytest.raises(ContractError, match=r"x: no file .*gone\.onnx"):
        network_metadata(tmp_path / "gone.onnx", "x")


def test_threads_that_meet_a_network_together_load_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_difference(tmp_path / "net.onnx")
    loaded: list[str] = []
    start, together = onnxruntime.InferenceSession, threading.Barrier(4)

    def spy(path: str, **options: object) -> object:
        loaded.append(path)
        return start(path, **options)

    def run(_: int) -> list[list[float]]:
        together.wait()
        difference: list[list[float]] = run_network(tmp_path / "net.onnx", {"left": A, "right": B}, "x").tolist()
        return difference

    monkeypatch.setattr(onnxruntime, "InferenceSession", spy)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == [[[-2.0, -2.0]]] * 4
    assert loaded == [str(tmp_path / "net.onnx")]


def test_a_file_that_was_replaced_is_loaded_anew(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    write_difference(path)
    os.utime(path, ns=(1, 1))
    assert run_network(path, {"left": A, "right": B}, "x").tolist() == [[-2.0, -2.0]]
    write_difference(path, operation="Add")
    os.utime(path, ns=(2, 2))
    assert run_network(path, {"left": A, "right": B}, "x").tolist() == [[8.0, 8.0]]


@pytest.mark.parametrize("limit", [None, 1])
def test_a_network_has_as_many_threads_as_this_process_may_use_and_none_of_them_spins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int | None
) -> None:
    monkeypatch.setattr("mrac.runtime.parallel._limit", limit)
    write_difference(tmp_path / "two.onnx")
    options = onnx_session._session(tmp_path / "two.onnx", "test").get_session_options()
    assert options.intra_op_num_threads == num_cores()
    assert limit is None or num_cores() == limit
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_a_network_whose_output_would_not_fit_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    write_onnx(tmp_path / "a.onnx", [Node("Identity", ["x"], "y")], {"x": (1,)}, {"y": (1, 100_000, 100_000)})
    with pytest.raises(ContractError, match=r"test: .*a\.onnx: an array of shape \(1, 100000, 100000\): 40\.0 GB"):
        run_network(tmp_path / "a.onnx", np.zeros(1, np.float32), "test")
    (tmp_path / "b.onnx").write_bytes(b"\x3a\xff\xff\xff\xff\x0f\x00")
    with pytest.raises(ContractError, match=r"b\.onnx is not a usable ONNX file"):
        run_network(tmp_path / "b.onnx", np.zeros(1, np.float32), "test")


def test_work_beside_a_network_is_begun_once_and_its_errors_are_left_to_who_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mrac.runtime.parallel.num_cores", lambda: 2)
    pixels, begun = np.zeros((1, 3, 32, 32), np.float32), []

    def work() -> None:
        begun.append(threading.get_ident())
        raise ZeroDivisionError

    network = WEIGHTS / "embedded_int8.onnx"
    plain = run_network(network, pixels, "test")
    with beside_network(work):
        np.testing.assert_array_equal(run_network(network, pixels, "test"), plain)
        run_network(network, pixels, "test")
    run_network(network, pixels, "test")
    assert len(begun) == 1
    assert begun[0] != threading.get_ident()


def test_a_file_is_read_as_onnx_whatever_its_name_says(tmp_path: Path) -> None:
    write_difference(tmp_path / "net.ort")  # by this ending, the runtime would read a format of its own
    assert run_network(tmp_path / "net.ort", {"left": A, "right": B}, "x").tolist() == [[-2.0, -2.0]]
