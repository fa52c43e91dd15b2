"""A second round: from the weights of a first, taught by it."""

from pathlib import Path

import pytest
import torch
from rich.console import Console

from mrac import ContractError
from mrac.lab.train.foundation.checkpoint import load_network, save_network
from mrac.lab.train.foundation.network import DepthNetwork, NetworkOptions
from mrac.lab.train.foundation.run import RunOptions, train_foundation
from mrac.lab.train.foundation.training import FoundationOptions, FoundationTraining, Weights, second_round
from tests.lab.train import tiny


@pytest.fixture
def teacher() -> DepthNetwork:
    training = FoundationTraining(tiny.narrow(4), [tiny.frames()], None)
    for _ in range(4):
        training.advance()
    return training.averaged


def test_it_starts_where_the_teacher_stands_and_leaves_it_alone(teacher: DepthNetwork) -> None:
    before = {name: value.clone() for name, value in teacher.state_dict().items()}
    training = FoundationTraining(tiny.narrow(4), [tiny.frames()], None, teacher)
    for name, value in training.network.state_dict().items():
        torch.testing.assert_close(value, before[name])
    training.advance()
    for name, value in teacher.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


def test_the_teacher_looks_into_the_mirror_too(teacher: DepthNetwork) -> None:
    training = FoundationTraining(tiny.narrow(4), [tiny.frames()], None, teacher)
    image = training.batch().image
    torch.testing.assert_close(training.teach(image).flip(2), training.teach(image.flip(3)), rtol=1e-4, atol=1e-5)


def test_agreeing_with_the_teacher_costs_nothing(teacher: DepthNetwork) -> None:
    only = Weights(shift=0.0, affine=0.0, gradient=0.0, metric=0.0, sky=0.0, teacher=1.0)
    training = FoundationTraining(tiny.narrow(4, weights=only), [tiny.frames()], None, teacher)
    views = training.batch()
    taught = training.teach(views.image)
    assert training.loss(taught + 0.7, views).item() == pytest.approx(0.0, abs=1e-5)
    bent = taught + torch.linspace(0, 1, taught.shape[2])
    assert training.loss(bent, views).item() == pytest.approx(0.25, rel=0.05)  # the mean distance from the middle


def test_larger_pictures_and_gentler_steps() -> None:
    first = FoundationOptions()
    second = second_round(first)
    assert min(h * w for (h, w), _ in second.phases[0].shapes) > 288 * 384
    assert second.encoder_rate < first.encoder_rate
    assert second.decoder_rate < first.decoder_rate


def test_another_teacher_is_another_run(teacher: DepthNetwork, tmp_path: Path) -> None:
    pack = tiny.write_pack(tmp_path / "pack")
    options = tiny.narrow(2)
    save_network(teacher, tmp_path / "a.safetensors", {})
    with torch.no_grad():
        teacher.out.weight.add_(0.1)
    save_network(teacher, tmp_path / "b.safetensors", {})
    run = RunOptions((pack,), tmp_path / "run", "cpu", teacher=tmp_path / "a.safetensors")
    train_foundation(options, run, lambda *_: False, Console(quiet=True))
    other = RunOptions((pack,), tmp_path / "run", "cpu", teacher=tmp_path / "b.safetensors")
    with pytest.raises(ContractError, match="taught_by"):
        train_foundation(options, other, lambda *_: False, Console(quiet=True))


def test_a_wrong_file_is_one_line(teacher: DepthNetwork, tmp_path: Path) -> None:
    save_network(teacher, tmp_path / "a.safetensors", {})
    (tmp_path / "text.safetensors").write_text("no weights")
    with pytest.raises(ContractError, match=r"embedded\.safetensors is needed"):
        load_network(tmp_path / "a.safetensors", NetworkOptions())  # of another size
    for name in ("text.safetensors", "missing.safetensors"):
        with pytest.raises(ContractError, match=r"embedded\.safetensors is needed"):
            load_network(tmp_path / name, NetworkOptions())
