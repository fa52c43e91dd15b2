"""Later rounds: from the weights of a first, or from a network as it ships."""

from pathlib import Path

import pytest
import torch
from rich.console import Console

from mrac import ContractError
from mrac.foundation.embedded import NETWORK
from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.gpu.published import network_from_onnx, weights_of
from mrac.lab.train.foundation.checkpoint import load_network, save_network
from mrac.lab.train.foundation.recipe import FoundationOptions, further_round, second_round
from mrac.lab.train.foundation.run import RunOptions, export_foundation, train_foundation
from mrac.lab.train.foundation.training import FoundationTraining
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


def test_from_the_file_that_ships_it_answers_as_that_before_the_first_step() -> None:
    training = FoundationTraining(tiny.options(), [tiny.frames()], None, network_from_onnx(NETWORK).state_dict())
    image = training.batch(0).image
    with torch.no_grad():
        shipped, ours = network_from_onnx(NETWORK)(image), training.averaged(image)
    assert float(shipped.std()) > 0.05
    torch.testing.assert_close(ours, shipped, rtol=1e-4, atol=1e-4)
    assert float(training.advance()) > 0.0


def test_norms_that_were_put_back_have_the_statistics_of_the_views() -> None:
    training = FoundationTraining(tiny.options(4), [tiny.frames()], None, network_from_onnx(NETWORK).state_dict())
    norm = training.network.encoder.stem.norm
    with torch.no_grad():
        views = torch.cat([training.batch(step).image for step in range(4, 12)])
        seen = training.network.encoder.stem.conv((views - 127) / 128)
    assert norm.running_mean is not None
    torch.testing.assert_close(norm.running_mean, seen.mean(dim=(0, 2, 3)), rtol=0.1, atol=0.02)


def test_a_run_from_an_onnx_file_ends_with_one(tmp_path: Path) -> None:
    pack = tiny.write_pack(tmp_path / "pack")
    run = RunOptions((pack,), tmp_path / "run", "cpu", start=NETWORK)
    network = train_foundation(tiny.options(1), run, lambda *_: False, Console(quiet=True))
    assert set(weights_of(network)) == set(weights_of(NETWORK))


def test_what_is_written_lies_between_the_start_and_what_was_learned(first: DepthNetwork) -> None:
    training = FoundationTraining(tiny.narrow(4, start_share=0.25), [tiny.frames()], None, first)
    for _ in range(4):
        training.advance()
    learned, result = training.averaged.state_dict(), training.result().state_dict()
    assert not torch.equal(learned["out.weight"], first.state_dict()["out.weight"])
    for name, begun in first.state_dict().items():
        if begun.dtype.is_floating_point:
            torch.testing.assert_close(result[name], 0.25 * begun + 0.75 * learned[name])


def test_an_onnx_file_of_another_network_is_refused(first: DepthNetwork, tmp_path: Path) -> None:
    export_foundation(first, tmp_path / "other.onnx")
    pack = tiny.write_pack(tmp_path / "pack")
    run = RunOptions((pack,), tmp_path / "run", "cpu", start=tmp_path / "other.onnx")
    with pytest.raises(ContractError, match=r"other\.onnx does not hold"):
        train_foundation(tiny.options(1), run, lambda *_: False, Console(quiet=True))


def test_the_further_round_looks_at_neighbourhoods() -> None:
    recipe = further_round(FoundationOptions())
    assert recipe.weights.local > recipe.weights.shift
    assert sum(recipe.shares.values()) == pytest.approx(1.0)
