"""From trained weights to the runtime: the file says what it is, and gives in use what training saw."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from mrac import Anchors, Calibrator, ContractError, RelativeDepth
from mrac.head._rendering import Form
from mrac.lab.train.foundation.checkpoint import save_network
from mrac.lab.train.heads.batch import Draw, draw_batch
from mrac.lab.train.heads.data import HeadFrames
from mrac.lab.train.heads.export import export_checkpoint
from mrac.lab.train.heads.options import HeadOptions
from mrac.lab.train.heads.residual_network import HeadNetwork
from mrac.lab.train.heads.task import HeadTask
from tests.lab.train import tiny_heads


def saved(task: HeadTask, path: Path) -> nn.Module:
    """A network that says something everywhere."""
    torch.manual_seed(0)
    network = task.network()
    assert isinstance(network, HeadNetwork)
    nn.init.normal_(network.out.weight, 0, 0.02)
    save_network(network, path, task.about)
    return network


@pytest.mark.parametrize(
    ("kind", "form", "head"), [("residual", "scale_free", "residual_unet"), ("raw", "metres", "raw_unet")]
)
def test_in_use_a_head_gives_what_training_saw(kind: str, form: Form, head: str, tmp_path: Path) -> None:
    frames: HeadFrames = tiny_heads.frames(2)
    options: HeadOptions = tiny_heads.options(kind=kind, form=form)
    task = HeadTask(options, [frames], [])
    network = saved(task, tmp_path / "head.safetensors")
    export_checkpoint(tmp_path / "head.safetensors", tmp_path / "head.onnx")
    calibrator = Calibrator("cfa_ols", head=f"{head}:weights={tmp_path / 'head.onnx'}")

    draw = Draw(20, 0.0, "depth", form, mirror=False)
    batch = draw_batch(frames, torch.arange(2), draw, torch.Generator().manual_seed(0))
    with torch.no_grad():
        seen, _ = task._depth(network, batch, (1e-3, 1e4))
    for i in range(2):
        v, u = np.nonzero(batch.mask[i].numpy())
        anchors = Anchors(np.stack([u, v], axis=1), batch.z_m[i].numpy()[v, u])
        image = batch.image[i].permute(1, 2, 0).numpy()
        used = calibrator(image, anchors, RelativeDepth(batch.x[i].numpy(), "depth")).depth_m
        np.testing.assert_allclose(used, seen[i], rtol=1e-3)
        line = Calibrator("cfa_ols")(image, anchors, RelativeDepth(batch.x[i].numpy(), "depth")).depth_m
        assert float(np.abs(used / line - 1).max()) > 0.02, "the network corrects nothing: nothing was compared"


@pytest.mark.parametrize("content", [b"", b"nothing at all"])
def test_what_is_no_head_is_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(ContractError, match=r"a\.safetensors is not a head of `mrac train`"):
        export_checkpoint(tmp_path / "a.safetensors", tmp_path / "a.onnx")


def test_weights_without_words_or_of_another_network_are_one_line(tmp_path: Path) -> None:
    tensors = {"a": torch.zeros(3)}
    for about in ({}, {"mrac.kind": "residual"}, {"mrac.kind": "abacus"}):
        save_file(tensors, tmp_path / "a.safetensors", about)
        with pytest.raises(ContractError, match="is not a head") as error:
            export_checkpoint(tmp_path / "a.safetensors", tmp_path / "a.onnx")
        assert "\n" not in str(error.value)
    assert not (tmp_path / "a.onnx").exists()
