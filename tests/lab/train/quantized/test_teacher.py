"""The teacher in torch says what the one of ONNX Runtime says, and the loss is no less than how far one is from it."""

import numpy as np
import pytest
import torch
from torch import Tensor

from mrac.foundation.embedded import NETWORK
from mrac.lab.train.foundation.losses import shift_invariant_l1
from mrac.lab.train.quantized.teacher import FAR, DeviceTeacher, Teacher, distance_to
from tests.lab.train import tiny

Answer = tuple[Tensor, Tensor]


def images() -> Tensor:
    """(3, 3, 64, 96): two floors, and a street-like bright upper half, where the network sees far."""
    floors = [tiny.floor(*tiny.SIZE, seed)[0].float() for seed in range(2)]
    sky = torch.full((3, *tiny.SIZE), 230.0)
    sky[:, 32:] = torch.from_numpy(np.random.default_rng(0).integers(40, 90, (1, 32, 96)).astype(np.float32))
    return torch.stack([*floors, sky])


@pytest.fixture(scope="module")
def answers() -> tuple[Answer, Answer]:
    """Of ONNX Runtime, of torch."""
    return Teacher(NETWORK)(images()), DeviceTeacher(NETWORK, torch.device("cpu"))(images())


def test_both_give_the_same_depth_and_the_same_trust(answers: tuple[Answer, Answer]) -> None:
    (theirs, trusted), (ours, our_trust) = answers
    assert ours.shape == trusted.shape == (3, 32, 48)
    torch.testing.assert_close(ours, theirs, rtol=0.0, atol=1e-4)
    torch.testing.assert_close(our_trust, trusted, rtol=0.0, atol=2e-3)  # a fiftieth of a unit of log depth halves it
    assert our_trust.min() < 0.8
    assert our_trust.max() <= 1.0


def test_a_mirrored_image_has_the_mirrored_answer(answers: tuple[Answer, Answer]) -> None:
    depth, trust = DeviceTeacher(NETWORK, torch.device("cpu"))(images().flip(3))
    torch.testing.assert_close(depth, answers[1][0].flip(2), rtol=0.0, atol=1e-4)
    torch.testing.assert_close(trust, answers[1][1].flip(2), rtol=0.0, atol=2e-3)


def test_beyond_200_m_all_is_equally_far(monkeypatch: pytest.MonkeyPatch) -> None:
    for teacher in (Teacher(NETWORK), DeviceTeacher(NETWORK, torch.device("cpu"))):
        monkeypatch.setattr("mrac.lab.train.quantized.teacher.FAR", -1.0)
        depth, trust = teacher(images())
        assert torch.all(depth == -1.0)
        assert torch.all(trust == 1.0)
        monkeypatch.undo()


def test_the_loss_is_0_at_the_target_and_up_to_a_shift_in_its_first_part() -> None:
    generator = torch.Generator().manual_seed(0)
    target, weight = torch.rand(2, 16, 24, generator=generator), torch.rand(2, 16, 24, generator=generator)
    assert float(distance_to(target, weight, target, 0.5, 0.1)) == 0.0
    assert float(distance_to(target, weight, target + 2.0, 0.5, 0.0)) == pytest.approx(0.0, abs=1e-5)
    assert float(distance_to(target, weight, target + 2.0, 0.5, 0.1)) == pytest.approx(0.2, abs=1e-5)
    other = torch.rand(2, 16, 24, generator=generator)
    plain = float(distance_to(target, weight, other, 0.0, 0.0))
    assert plain == pytest.approx(float(shift_invariant_l1(other - target, weight).mean()))
    assert float(distance_to(target, weight, other, 0.5, 0.0)) > plain


def test_farther_than_200_m_costs_nothing_more() -> None:
    target, weight = torch.full((1, 16, 24), FAR), torch.ones(1, 16, 24)
    assert float(distance_to(target, weight, target + 10.0, 0.5, 0.1)) == 0.0
