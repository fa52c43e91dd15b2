"""`mrac train student`: from the embedded network to a smaller one that answers as it does."""

import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from mrac.foundation.embedded import NETWORK
from mrac.lab.train.foundation.advance import advance_to_end
from mrac.lab.train.foundation.checkpoint import load_state
from mrac.lab.train.foundation.rendered import render_frames
from mrac.lab.train.foundation.rounding import round_weights
from mrac.lab.train.foundation.run import choose_device, export_foundation
from mrac.lab.train.log import STATE, make_folder, number, tidy
from mrac.lab.train.quantized.held import distances, held_pictures
from mrac.lab.train.quantized.pictures import load_pictures
from mrac.lab.train.quantized.teacher import DeviceTeacher
from mrac.lab.train.student.training import StudentOptions, StudentTraining

_SCENE_SIZE = (360, 480)


@dataclass(frozen=True)
class RunOptions:
    """What a run reads and writes, and on which device; the recipe is `StudentOptions`.

    Attributes:
        data: the training packs, folders with a manifest.csv; depth in them is not read.
        out: for the state, the log and the network.
        teacher: file of the network whose answers are learned.
        device: `cpu`, `cuda`, or empty for the GPU where there is one.
        save_every: steps.
    """

    data: tuple[Path, ...]
    out: Path
    teacher: Path = NETWORK
    device: str = ""
    save_every: int = 100


def train_student(options: StudentOptions, run: RunOptions, console: Console) -> Path:
    """Trains, or goes on where a killed run stopped, and exports.

    Returns:
        The .onnx file, in single precision, for `mrac train quantize`.

    Raises:
        ContractError: no such data, device or teacher, the teacher is itself a small network, or `run.out` cannot be a
            folder or holds a run of other options.
    """
    device = choose_device(run.device)
    teacher = DeviceTeacher(run.teacher, device)
    options = dataclasses.replace(options, taught_by=hashlib.sha256(run.teacher.read_bytes()).hexdigest())
    make_folder(run.out)
    console.print(f"reading {' and '.join(map(str, run.data))} ...")
    pictures, held_frames = load_pictures(run.data)
    sets = [frames.to(device) for frames in pictures]
    if options.num_scenes:
        console.print(f"rendering {options.num_scenes} scenes ...")
        sets.append(render_frames(options.num_scenes, _SCENE_SIZE, sets[0].images, options.seed))
    held = held_pictures(held_frames, lambda image: teacher(image.to(device)))
    held = [picture.to(device) for picture in held]
    training, state = StudentTraining(options, teacher, sets), run.out / STATE
    if state.is_file():
        load_state(training, state)
        console.print(f"going on at step {training.step}")
    tidy(run.out, training.step)
    once = distances(teacher.network, held)
    console.print(f"one pass of the teacher: {_words(once)}")
    advance_to_end(
        training,
        run.out,
        run.save_every,
        console,
        lambda: {"distance": {name: number(value) for name, value in distances(training.averaged, held).items()}},
    )
    round_weights(training.averaged)
    network = run.out / "student.onnx"
    export_foundation(training.averaged, network)
    return network


def _words(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
