"""The scale-map learner in the same loop: starts as the alignment, learns, exports what the head `sml` runs."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.lab.train.heads import session as head_session
from mrac.lab.train.heads.data import HeadFrames
from mrac.lab.train.heads.options import HeadOptions
from mrac.lab.train.heads.recipes import sml_retrained
from mrac.lab.train.heads.residual_network import normalise_relative
from mrac.lab.train.heads.run import train_on
from mrac.lab.train.heads.session import HeadRun
from mrac.lab.train.heads.training import HeadTraining, make_accelerator
from mrac.lab.train.scale_map.task import SmlTask, draw_sml_task
from mrac.vi_depth.ranges import WIDE
from tests.lab.train import tiny_heads

OPTIONS: HeadOptions = replace(sml_retrained(), num_epochs=1, batch=2, budgets=(40,))


def frames(num: int, set_name: str = "toy") -> HeadFrames:
    bent = tiny_heads.frames(num, set_name)
    bent.frames.z_m[:, :, 30:] *= 1.1  # so that left and right can be told apart
    x = 1.0 / bent.x
    return HeadFrames(bent.frames, x, normalise_relative(x), native=True)


@pytest.fixture(scope="module")
def task() -> SmlTask:
    return SmlTask.draw(OPTIONS, [frames(4)], [frames(2, "held")], WIDE)


def test_untrained_it_is_the_alignment_and_a_step_changes_that(task: SmlTask) -> None:
    training = HeadTraining(OPTIONS, task, make_accelerator(torch.device("cpu"), "no"))
    (before,) = training.score().values()
    assert before["head"] == pytest.approx(before["affine"], rel=1e-5)
    for _ in range(training.num_steps):
        training.advance()
    losses = training.mean_losses()
    assert losses["total"] == losses["learner"] > 0
    (after,) = training.score().values()
    assert after["affine"] == before["affine"]
    assert after["head"] != before["head"]


def test_a_minibatch_is_one_draw_of_each_frame_mirrored_as_a_whole(task: SmlTask) -> None:
    index = torch.arange(4).repeat(8)
    batch = task.batch(0, index, 40, torch.Generator().manual_seed(0))
    pool = task.pools[0]
    mirrored = []
    for aligned, scale, truth, i in zip(*batch, index.tolist(), strict=True):
        flip = not torch.equal(truth, pool.truth_per_m[i])
        mirrored.append(flip)
        undo = [m.flip(-1) if flip else m for m in (aligned, scale, truth)]
        found = [d for d in range(pool.aligned_per_m.shape[1]) if torch.equal(undo[0], pool.aligned_per_m[i, d])]
        assert any(torch.equal(undo[1], pool.unit_scale[i, d]) for d in found), "one map is mirrored, another is not"
    assert 5 < sum(mirrored) < 27


def test_what_never_runs_is_not_trained(task: SmlTask) -> None:
    network = task.network()
    frozen = {name for name, parameter in network.named_parameters() if not parameter.requires_grad}
    assert frozen
    assert all(name.startswith("scratch.refinenet4.resConfUnit1.") for name in frozen)


@pytest.mark.memory(3)  # 2.0 by itself
def test_from_frames_to_a_file_that_the_head_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch runs it; the export has tests of its own."""
    monkeypatch.setattr(head_session, "export_checkpoint", lambda path, onnx_path: None)
    sets = [frames(4)]
    run = HeadRun(out=tmp_path, device="cpu", hold_out=0.0)
    console = Console(quiet=True)
    last = train_on(OPTIONS, sets, run, console, partial(draw_sml_task, console=console))
    calibrator = Calibrator("sml_retrained", head=f"sml:weights={last}")
    rng = np.random.default_rng(0)
    z_m = sets[0].frames.z_m[0].numpy()
    v, u = (rng.integers(0, size, 40) for size in z_m.shape)
    image = sets[0].frames.images[0].permute(1, 2, 0).numpy()
    relative = RelativeDepth(sets[0].x[0].numpy(), "inverse_depth")
    result = calibrator(image, Anchors(np.stack([u, v], axis=1), z_m[v, u]), relative)
    assert result.status == "ok"
    assert float(np.abs(result.depth_m / z_m - 1).mean()) < 0.3
