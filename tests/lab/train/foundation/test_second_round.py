"""A second round: from the weights of a first."""

from pathlib import Path

import pytest
import torch
from rich.console import Console

from mrac import ContractError
from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.lab.train.foundation.checkpoint import load_network, save_network
from mrac.lab.train.foundation.run import RunOptions, train_foundation
from mrac.lab.train.foundation.training import FoundationOptions, FoundationTraining, second_round
from tests.lab.train import tiny


@pytest.fixture
def first() -> DepthNetwork:
    training = FoundationTraining(tiny.narrow(4), [tiny.frames()], None)
    for _ in range(4):
        training.advance()
    return training.averaged


def test_it_starts_where_the_first_ended_and_leaves_it_alone(first: DepthNetwork) -> None:
    before = {name: value.clone() for name, value in first.state_dict().items()}
    training = FoundationTraining(tiny.narrow(4), [tiny.frames()], None, first)
    for name, value in training.network.state_dict().items():
        torch.testing.assert_close(value, before[name])
    training.advance()
    for name, value in first.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


def test_full_size_for_longer_and_gentler_steps() -> None:
    first = FoundationOptions()
    second = second_round(first)
    assert second.phases[-1].num_steps > 2 * second.phases[0].num_steps
    assert sum(second.shares.values()) == pytest.approx(1.0)
    assert second.encoder_rate < first.encoder_rate
    assert second.decoder_rate < first.decoder_rate


def test_another_start_is_another_run(first: DepthNetwork, tmp_path: Path) -> None:
    pack = tiny.write_pack(tmp_path / "pack")
    options = tiny.narrow(2)
    save_network(first, tmp_path / "a.safetensors", {})
    with torch.no_grad():
        first.out.weight.add_(0.1)
    save_network(first, tmp_path / "b.safetensors", {})
    run = RunOptions((pack,), tmp_path / "run", "cpu", start=tmp_path / "a.safetensors")
    train_foundation(options, run, lambda *_: False, Console(quiet=True))
    other = RunOptions((pack,), tmp_path / "run", "cpu", start=tmp_path / "b.safetensors")
    with pytest.raises(ContractError, match="starts_from"):
        train_foundation(options, other, lambda *_: False, Console(quiet=True))


def test_a_wrong_file_is_one_line(first: DepthNetwork, tmp_path: Path) -> None:
    save_network(first, tmp_path / "a.safetensors", {})
    (tmp_path / "text.safetensors").write_text("no weights")
    with pytest.raises(ContractError, match=r"embedded\.safetensors is needed"):
        load_network(tmp_path / "a.safetensors", NetworkOptions())  # of another size
    for name in ("text.safetensors", "missing.safetensors"):
        with pytest.raises(ContractError, match=r"embedded\.safetensors is needed"):
            load_network(tmp_path / name, NetworkOptions())
