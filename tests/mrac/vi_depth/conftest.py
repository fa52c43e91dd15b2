from collections.abc import Iterator

import pytest

from tests.conftest import INSTALLED


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Torch's threads wait for each other; on a machine that does other things as well that takes ten times as long."""
    if not INSTALLED:
        yield
        return
    import torch  # noqa: PLC0415

    num = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num)
