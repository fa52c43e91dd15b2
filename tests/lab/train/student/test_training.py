"""The recipe itself: that it learns, which layers do, and what a batch is."""

import pytest
import torch

from mrac.foundation.embedded import NETWORK
from mrac.lab.train.foundation.views import ViewOptions
from mrac.lab.train.quantized.teacher import DeviceTeacher, distance_to
from mrac.lab.train.student.training import StudentTraining
from tests.lab.train import tiny
from tests.lab.train.student import small


@pytest.fixture(scope="module")
def teacher() -> DeviceTeacher:
    return DeviceTeacher(NETWORK, torch.device("cpu"))


def test_a_few_steps_bring_the_answer_nearer_to_the_teacher_s(teacher: DeviceTeacher) -> None:
    options = small.options(16, batch=4, small_batch=4, plain_colour=1.0, views=ViewOptions(plain=1.0))
    training = StudentTraining(options, teacher, [small.frames(8)])
    image = training.sets[0].images.float()

    def loss() -> float:
        with torch.no_grad():
            return float(distance_to(*teacher(image), training.network(image)[:, 0], options.gradient, options.metric))

    before = loss()
    while training.step < options.num_steps:
        assert bool(training.advance().isfinite())
    assert loss() < 0.8 * before


def test_the_last_layers_alone_learn(teacher: DeviceTeacher) -> None:
    training = StudentTraining(small.options(4), teacher, [tiny.frames()])
    own = {f"{name}.weight" for name in ("refine.2.mix.0.project.conv", "detail.conv", "out")}
    before = {name: value.clone() for name, value in training.network.state_dict().items()}
    assert own < before.keys()
    training.advance()
    training.advance()
    now = training.network.state_dict()
    moved = {name for name, value in before.items() if not torch.equal(now[name], value)}
    assert own <= moved
    assert all(name.startswith(("refine.2.", "detail.", "out.")) for name in moved)
    assert not any("running" in name for name in moved)


@pytest.fixture(scope="module")
def training(teacher: DeviceTeacher) -> StudentTraining:
    """Two sets; one step of four with small views, many of them."""
    options = small.options(small_share=0.25, small_batch=8, small_shapes=(((32, 64), 1.0),), shares={"a": 0.0})
    return StudentTraining(options, teacher, [tiny.frames(), tiny.frames(set_name="b")])


def test_the_first_steps_see_more_views_that_are_smaller(training: StudentTraining) -> None:
    assert [training.batch(step).shape for step in range(3)] == [(8, 3, 32, 64), (2, 3, 64, 96), (2, 3, 64, 96)]


def test_every_step_draws_from_its_own_seed_and_only_from_sets_with_a_share(training: StudentTraining) -> None:
    first = training.batch(1)
    assert torch.equal(first, training.batch(1))
    assert not torch.equal(first, training.batch(2))
    assert torch.equal(first, first.round())
    assert first.min() >= 0.0
    assert first.max() <= 255.0
    none = training.sets[0].images.clone()
    training.sets[0].images.zero_()  # its share is 0
    assert torch.equal(first, training.batch(1))
    training.sets[0].images.copy_(none)
