"""Fine-tuning in 8 bits on a tiny pack: nearer to the teacher, the same after a kill, refused in one line."""

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
import torch
from rich.console import Console

from mrac.errors import ContractError
from mrac.foundation.embedded import NETWORK, NETWORKS
from mrac.lab.train.quantized.graph import QuantizedGraph
from mrac.lab.train.quantized.network import QuantizedNetwork
from mrac.lab.train.quantized.pictures import load_pictures
from mrac.lab.train.quantized.run import RunOptions, finetune
from mrac.lab.train.quantized.teacher import Teacher
from mrac.lab.train.quantized.training import QuantizeOptions, QuantizeTraining
from tests.lab.train import tiny

ROOT = Path(__file__).parents[4]
OPTIONS = QuantizeOptions(4, batch=1, shapes=(((64, 96), 1.0),), warmup=1)

KILLED = """
import os, signal, sys
from pathlib import Path
from mrac.lab.train.foundation import checkpoint
from tests.lab.train.quantized import test_run
whole = checkpoint.write_whole
def write(path, fill):
    whole(path, fill)
    os.kill(os.getpid(), signal.SIGKILL)
checkpoint.write_whole = write
test_run.run(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def run(data: Path, out: Path, options: QuantizeOptions = OPTIONS) -> bytes:
    """A run that saves every second step; the bytes of the model that it leaves."""
    model = onnx.load(NETWORKS["int8"])
    finetune(options, RunOptions(NETWORK, (data,), out, 2), model, Console(file=io.StringIO()))
    return bytes(model.SerializeToString(deterministic=True))


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return tiny.write_pack(tmp_path / "pack")


def test_a_few_steps_bring_ranges_that_are_wrong_nearer_to_the_teacher(pack: Path) -> None:
    network = QuantizedNetwork(NETWORK, QuantizedGraph(onnx.load(NETWORKS["int8"])))
    with torch.no_grad():
        for rounding in network.roundings.values():
            rounding.log_scale.add_(0.5)
    teacher = Teacher(NETWORK)
    options = replace(OPTIONS, num_steps=12, rate=0.0, range_rate=0.05)
    training = QuantizeTraining(options, network, teacher, load_pictures((pack,))[0])
    image = training.views(0)

    def loss() -> float:
        with torch.no_grad():
            return float(training.loss(network(image)[:, 0], *teacher(image)))

    before = loss()
    while training.step < options.num_steps:
        training.advance()
    assert loss() < 0.7 * before


def test_a_killed_run_goes_on_as_if_nothing_had_happened(pack: Path, tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, pack, tmp_path / "killed"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    resumed = run(pack, tmp_path / "killed")
    assert resumed == run(pack, tmp_path / "whole")
    lines = [json.loads(line) for line in (tmp_path / "killed" / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [2, 4]
    assert lines[0]["distance"].keys() == {"toy"}


def test_a_run_of_other_options_is_refused(pack: Path, tmp_path: Path) -> None:
    run(pack, tmp_path / "run")
    with pytest.raises(ContractError, match=r"other options \(seed\)"):
        run(pack, tmp_path / "run", replace(OPTIONS, seed=1))


def test_frames_to_measure_on_are_not_learned_from(tmp_path: Path) -> None:
    many, few = tiny.write_pack(tmp_path / "many", 16), tiny.write_pack(tmp_path / "few", 4, set_name="few")
    learned, held = load_pictures((many, few))
    assert [len(frames) for frames in learned] == [14, 3]
    assert [[frame.name for frame in frames] for frames in held][1] == ["few/3"]  # the last of too few scenes
    assert not {frame.name for frames in held for frame in frames} & {name for s in learned for name in s.names}


def test_a_set_of_one_frame_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="1 frame; two or more are needed"):
        load_pictures((tiny.write_pack(tmp_path / "one", 1),))
