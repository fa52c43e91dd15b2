"""A recorded step must be the step itself. Without a GPU there is nothing to record, and the step runs."""

import pytest
import torch
from torch import Tensor, nn

from mrac.lab.train.cuda_graph import GraphedStep


def learn(device: str, graphed: bool, num_steps: int = 6) -> tuple[dict[str, Tensor], list[float]]:
    """A small network with running means and dropped units, on batches of two shapes in turn."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.2), nn.Conv2d(8, 1, 1))
    network.to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = (network(x).mean(dim=(1, 2, 3)) - y).square().mean()
        loss.backward()
        return torch.as_tensor(loss)

    played, losses = GraphedStep(step, network), []
    for number in range(num_steps):
        torch.manual_seed(number)
        side = 16 if number % 2 else 12
        x, y = torch.randn(4, 3, side, side), torch.randn(4)
        torch.manual_seed(1000 + number)
        if graphed:
            loss = played(x.to(device), y.to(device))
        else:
            network.zero_grad()
            loss = step(x.to(device), y.to(device))
        optimizer.step()
        assert not loss.requires_grad or not graphed
        losses.append(loss.item())
    return {name: value.detach().cpu() for name, value in network.state_dict().items()}, losses


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_recorded_step_is_the_step(device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU here: nothing can be recorded")
    plain, graphed = learn(device, False), learn(device, True)
    assert graphed[1] == pytest.approx(plain[1], rel=1e-5)
    for name, value in plain[0].items():
        torch.testing.assert_close(graphed[0][name], value, rtol=1e-4, atol=1e-6, msg=name)


def test_gradients_of_earlier_batches_do_not_add_up() -> None:
    network = nn.Linear(2, 1)

    def step(x: Tensor) -> Tensor:
        loss = network(x).sum()
        loss.backward()
        return torch.as_tensor(loss)

    played = GraphedStep(step, network)
    for _ in range(3):
        played(torch.ones(1, 2))
    assert network.weight.grad is not None
    assert network.weight.grad.tolist() == [[1.0, 1.0]]
