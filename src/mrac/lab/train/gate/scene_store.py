"""All training scenes of a pack: drawn by many processes and kept on disk, so that a kill costs one set at most."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.progress import Progress

from mrac.io.arrays import read_arrays
from mrac.io.files import remove_temporary, write_arrays
from mrac.lab.data.manifest import Frame
from mrac.lab.train.gate.depth_loss import Target
from mrac.lab.train.gate.draw_scenes import GateScene, ScenePlan, scenes
from mrac.lab.train.gate.frames import GateData
from mrac.lab.train.log import progress_bar
from mrac.runtime.forking import die_with_parent
from mrac.runtime.parallel import limit_cores

_PER_READING: Final = ("inputs", "wrong", "features", "x", "log_z")
_PER_SCENE: Final = ("at", "at_x", "log_truth")
_WAITING: Final = 64  # frames whose scenes are being drawn, or will be


class SceneStore:
    """Draws what is missing.

    Args:
        data: the pack.
        plan: how many scenes.
        seed: of everything drawn.
        out: the folder of the run; scenes are kept in `scenes/` there.
    """

    def __init__(self, data: GateData, plan: ScenePlan, seed: int, out: Path) -> None:
        self._data, self._plan, self._seed, self._folder = data, plan, seed, out / "scenes"

    def all_scenes(self, workers: int, console: Console) -> Iterator[GateScene]:
        """Every scene, those of one set after those of another.

        Raises:
            ContractError: the pack or a network cannot be read.
        """
        remove_temporary(self._folder)  # what a killed run left half-written
        with progress_bar(console) as progress, _pool(workers) as pool:
            for name, frames in self._data.sets().items():
                for turned, chosen in ((False, frames), (True, frames[: self._plan.turned])):
                    file = self._folder / f"{name}{'-upside-down' if turned else ''}.npz"
                    if self._is_ours(file):
                        yield from _load(file)
                        continue
                    found = list(self._drawn(name, chosen, turned, pool, progress))
                    self._save(file, found)
                    yield from found

    def _drawn(
        self, name: str, frames: list[Frame], turned: bool, pool: Executor, progress: Progress
    ) -> Iterator[GateScene]:
        task = progress.add_task(f"scenes of {name}{', upside down' if turned else ''}", total=len(frames))
        num = self._plan.num_each(len(frames), turned)
        waiting: deque[Future[list[GateScene]]] = deque()

        def first() -> list[GateScene]:
            found = waiting.popleft().result()
            progress.advance(task)
            return found

        for i, frame in self._data.read(frames, turned):
            waiting.append(pool.submit(scenes, frame, num, [self._seed, i, int(turned)]))
            if len(waiting) > _WAITING:
                yield from first()
        while waiting:
            yield from first()

    @property
    def _made_for(self) -> str:
        networks, folders = ([path.name for path in paths] for paths in (self._data.networks, self._data.folders))
        return json.dumps([asdict(self._plan), self._seed, self._data.limit, folders, networks])

    def _is_ours(self, file: Path) -> bool:
        return file.is_file() and str(read_arrays(file, ("made_for",))["made_for"]) == self._made_for

    def _save(self, file: Path, found: Sequence[GateScene]) -> None:
        whole = [{**scene._asdict(), **scene.target._asdict()} for scene in found]
        arrays = {name: np.concatenate([scene[name] for scene in whole]) for name in _PER_READING if whole}
        arrays |= {name: np.stack([scene[name] for scene in whole]) for name in _PER_SCENE if whole}
        count, names = np.array([scene.wrong.size for scene in found]), np.array(found[0].names if found else ())
        write_arrays(file, made_for=np.array(self._made_for), count=count, names=names, **arrays)


def _pool(workers: int) -> Executor:
    if workers == 1:
        return ThreadPoolExecutor(1)
    # Forked, the threads that torch has started would hang.
    return ProcessPoolExecutor(workers, get_context("spawn"), _start)


def _start() -> None:
    limit_cores(1)
    die_with_parent()


def _load(file: Path) -> Iterator[GateScene]:
    if not (header := read_arrays(file, ("count", "names")))["count"].size:
        return
    arrays = read_arrays(file, _PER_READING + _PER_SCENE)
    ends = np.cumsum(header["count"])[:-1]
    columns = [np.split(arrays[name], ends) for name in _PER_READING] + [list(arrays[name]) for name in _PER_SCENE]
    for inputs, wrong, *target in zip(*columns, strict=True):
        yield GateScene(inputs, wrong, tuple(map(str, header["names"])), Target(*target))
