"""What the methods need that cannot be in the package."""

from collections.abc import Iterator

import pytest

from mrac.vi_depth.predictors import PREDICTORS
from tests.conftest import INSTALLED


@pytest.fixture(scope="package", autouse=True)
def published_learners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Checkpoints of VI-Depth's layout that change nothing, where `vi_depth` looks for the published ones."""
    if not INSTALLED:
        yield
        return
    import torch  # noqa: PLC0415

    from tests.networks.learners import hollow_state, lightning  # noqa: PLC0415

    folder, num_threads = tmp_path_factory.mktemp("vi_depth"), torch.get_num_threads()
    for predictor in PREDICTORS.values():
        torch.save(lightning(hollow_state()), folder / predictor.learner_file(150))
    torch.set_num_threads(1)  # its threads would wait for each other where tests run side by side
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MRAC_VI_DEPTH", str(folder))
        yield
    torch.set_num_threads(num_threads)
