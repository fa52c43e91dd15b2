"""A state that was written is gone on from exactly, or refused in one line."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from mrac import ContractError
from mrac.lab.train.foundation.checkpoint import load_state, save_network, save_state
from mrac.lab.train.foundation.recipe import FoundationOptions
from mrac.lab.train.foundation.training import FoundationTraining
from mrac.lab.train.frames import Frames
from tests.lab.train import tiny

OPTIONS = tiny.narrow()


def start(options: FoundationOptions = OPTIONS, sets: list[Frames] | None = None) -> FoundationTraining:
    return FoundationTraining(options, [tiny.frames()] if sets is None else sets, None)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[FoundationTraining, Path]:
    training, path = start(), tmp_path_factory.mktemp("run") / "state.safetensors"
    training.advance()
    training.advance()
    save_state(training, path)
    return training, path


def one_line(error: pytest.ExceptionInfo[ContractError]) -> bool:
    return "\n" not in str(error.value) and str(error.value).startswith("train: ")


def test_the_state_comes_back_bit_by_bit(stopped: tuple[FoundationTraining, Path]) -> None:
    training, path = stopped
    resumed = start()
    load_state(resumed, path)
    assert resumed.step == training.step == 2
    for mine, theirs in ((resumed.network, training.network), (resumed.averaged, training.averaged)):
        assert all(torch.equal(mine.state_dict()[name], value) for name, value in theirs.state_dict().items())
    mine_state, theirs_state = (t.optimizer.state_dict()["state"] for t in (resumed, training))
    assert mine_state.keys() == theirs_state.keys()
    for number, state in theirs_state.items():
        assert all(torch.equal(mine_state[number][name], value) for name, value in state.items())


def test_moments_lie_in_memory_as_their_parameters_do(stopped: tuple[FoundationTraining, Path]) -> None:
    """Else the fused optimiser of a GPU refuses the first step after a resume."""
    resumed = start()
    load_state(resumed, stopped[1])
    num = 0
    for parameter, state in resumed.optimizer.state.items():
        for moment in (state["exp_avg"], state["exp_avg_sq"]):
            assert moment.stride() == parameter.stride()
            assert not moment.requires_grad
            num += not parameter.is_contiguous()
    assert num > 0, "no parameter of another memory format: nothing was tried"


def test_a_state_of_a_cpu_can_go_on_where_gradients_are_scaled(stopped: tuple[FoundationTraining, Path]) -> None:
    resumed = start()
    resumed.scaler = torch.GradScaler("cpu", enabled=True)
    load_state(resumed, stopped[1])
    assert resumed.scaler.is_enabled()
    assert resumed.step == 2


def test_scaled_gradients_go_on_at_their_scale(tmp_path: Path) -> None:
    training = start()
    training.scaler = torch.GradScaler("cpu", init_scale=2.0**9)
    save_state(training, tmp_path / "s")
    resumed = start()
    resumed.scaler = torch.GradScaler("cpu")
    load_state(resumed, tmp_path / "s")
    assert resumed.scaler.get_scale() == 2.0**9


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (replace(OPTIONS, seed=7), r"other options \(seed\)"),
        (replace(OPTIONS, hide=0.1, warmup=3), r"other options \(hide, warmup\)"),
        (tiny.narrow(9), r"other options \(phases\)"),
    ],
)
def test_other_options_are_named(
    options: FoundationOptions, names: str, stopped: tuple[FoundationTraining, Path]
) -> None:
    training = start(options)
    with pytest.raises(ContractError, match=names) as error:
        load_state(training, stopped[1])
    assert one_line(error)
    assert training.step == 0


def test_other_frames_are_named(stopped: tuple[FoundationTraining, Path]) -> None:
    for sets in ([tiny.frames(3)], [tiny.frames(), tiny.frames(2, "b")]):
        with pytest.raises(ContractError, match=r"other frames \([ab]\)") as error:
            load_state(start(sets=sets), stopped[1])
        assert one_line(error)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_truncated_state_is_one_line(share: float, stopped: tuple[FoundationTraining, Path], tmp_path: Path) -> None:
    content = stopped[1].read_bytes()
    cut = tmp_path / "state.safetensors"
    cut.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ContractError, match=r"cannot be read .* delete it to start anew") as error:
        load_state(start(), cut)
    assert one_line(error)


@pytest.mark.parametrize("content", [b"nonsense", b"\x02\0\0\0\0\0\0\0{}"])
def test_what_is_no_state_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    path.write_bytes(content)
    with pytest.raises(ContractError, match="cannot be read") as error:
        load_state(start(), path)
    assert one_line(error)


def test_a_network_is_no_state(stopped: tuple[FoundationTraining, Path], tmp_path: Path) -> None:
    save_network(stopped[0].averaged, tmp_path / "n", {"steps": "2"})
    with pytest.raises(ContractError, match="cannot be read") as error:
        load_state(start(), tmp_path / "n")
    assert one_line(error)


def test_a_state_of_another_layout_is_one_line(stopped: tuple[FoundationTraining, Path], tmp_path: Path) -> None:
    with safe_open(stopped[1], framework="pt") as file:
        about = file.metadata()
    tensors = load_file(stopped[1])
    tensors["network.elsewhere"] = tensors.pop("network.out.bias")
    save_file(tensors, tmp_path / "s", about)
    with pytest.raises(ContractError, match="another version of mrac") as error:
        load_state(start(), tmp_path / "s")
    assert one_line(error)


def test_a_network_is_its_weights_and_words_about_them(
    stopped: tuple[FoundationTraining, Path], tmp_path: Path
) -> None:
    averaged = stopped[0].averaged
    save_network(averaged, tmp_path / "n.safetensors", {"seed": "0"})
    tensors = load_file(tmp_path / "n.safetensors")
    assert tensors.keys() == averaged.state_dict().keys()
    assert all(torch.equal(tensors[name], value) for name, value in averaged.state_dict().items())
    assert b'"seed":"0"' in (tmp_path / "n.safetensors").read_bytes()[:4096]
    assert [p.name for p in tmp_path.iterdir()] == ["n.safetensors"]
