import pytest
import torch
from torch import Tensor, nn

from mrac.lab.bench.device.equal_batches import run_in_equal_batches


class Adder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, bool, bool]] = []

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        self.seen.append((len(a), torch.backends.cudnn.allow_tf32, torch.backends.cudnn.deterministic))
        return a + b


@pytest.mark.parametrize(("num", "num_batches"), [(1, 1), (8, 1), (9, 2), (20, 3)])
def test_batches_are_of_one_size_and_outputs_in_order(num: int, num_batches: int) -> None:
    network, a = Adder(), torch.arange(num)[:, None].float()
    before = torch.backends.cudnn.allow_tf32, torch.backends.cudnn.deterministic
    out = run_in_equal_batches(network, [a.expand(num, 3), 2 * a.expand(num, 3)])
    assert torch.equal(out, 3 * a.expand(num, 3))
    assert network.seen == [(8, False, True)] * num_batches
    assert (torch.backends.cudnn.allow_tf32, torch.backends.cudnn.deterministic) == before
