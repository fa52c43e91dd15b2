"""Ray Data, on one machine or a cluster (`RAY_ADDRESS`): a pool of actors, each of which does whole frames.

Where actors have a GPU, load, calibrate and commit are stages of their own, so that it does not wait for files: loading
and committing are tasks on processor cores, calibrating is the actors'. Without a GPU that would only cost: to pass
frames between processes, and to start these, took a third of two cores.

On a cluster, inputs and --out are the same paths on every node. Ray repeats what a killed worker had in hand; that no
frame is committed twice, and none that was committed before is computed, is the manifest's doing.
"""

import logging
import math
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from mrac.batch_jobs.attempts import attempt
from mrac.batch_jobs.executors import LIVES, Resources, died
from mrac.batch_jobs.job import Frame, Job, Outcome, failed
from mrac.batch_jobs.stages import ENVIRONMENT, calibrate, commit, load, perform, prepare_worker
from mrac.errors import MissingExtra

_LEAST_FRAMES: Final = 8  # of a task: fewer, and Ray's own work shows
_MOST_TASKS: Final = 10_000  # of a stage: more, and the one process that hands them out is the limit
_SIDE_CPUS: Final = 0.25  # of a core, for a task that loads or commits
_ITEM: Final = "item"  # of a row: pickled by this job, for another of its processes; never read from a file of others


def execute(job: Job, frames: Sequence[Frame], resources: Resources) -> Iterator[Outcome]:
    """See `Executor`; on one machine Ray is told of one core more than `workers` need, for the other stages.

    Raises:
        MissingExtra: Ray Data is not installed.
    """
    if not frames:
        return
    ray = _started(resources)
    try:
        left = {frame.id: frame for frame in frames}
        for row in _pipeline(ray, job, frames, resources).iter_rows():
            outcome: Outcome = pickle.loads(row[_ITEM])
            if left.pop(outcome.record.id, None) is not None:
                yield outcome
        # Of blocks that Ray gave up.
        yield from (failed(frame.id, died(frame)) for frame in left.values())
    finally:
        ray.shutdown()


def _started(resources: Resources) -> Any:
    # Of its C++ part, which writes to the terminal whatever Python's logging says.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray  # noqa: PLC0415
        import ray.data  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("batch --executor ray", "ray") from None
    options: dict[str, Any] = {"logging_level": "error", "log_to_driver": False, "ignore_reinit_error": True}
    if not os.environ.get("RAY_ADDRESS"):
        cpus = math.ceil(resources.workers * resources.cpus) + 1
        options |= {"address": "local", "num_cpus": cpus, "include_dashboard": False}
    ray.init(runtime_env={"env_vars": ENVIRONMENT}, **options)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.max_errored_blocks = -1  # the frames of one that is lost are reported as failed
    return ray


def _pipeline(ray: Any, job: Job, frames: Sequence[Frame], resources: Resources) -> Any:
    """The data set of outcomes; nothing runs before it is read."""
    items = [{_ITEM: pickle.dumps(frame)} for frame in frames]
    tasks = math.ceil(len(items) / max(_LEAST_FRAMES, math.ceil(len(items) / _MOST_TASKS)))
    data = ray.data.from_items(items, override_num_blocks=max(tasks, min(resources.workers, len(items))))
    of_actors = {
        "fn_constructor_args": (job,),
        "compute": ray.data.ActorPoolStrategy(size=resources.workers),
        "num_cpus": resources.cpus,
    }
    if not resources.gpus:
        return data.map(_Perform, **of_actors)
    loaded = data.map(_Load(job), num_cpus=_SIDE_CPUS)
    return loaded.map(_Calibrate, num_gpus=resources.gpus, **of_actors).map(_Commit(job), num_cpus=_SIDE_CPUS)


class _Perform:
    """All stages of a frame: an actor, whose network stays loaded."""

    def __init__(self, job: Job) -> None:
        prepare_worker()
        self.job = job

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        frame: Frame = pickle.loads(row[_ITEM])
        return _tried(self.job, frame, "perform", lambda: perform(self.job, frame))


class _Load:
    """The first of three stages, as Ray calls it: a function with a job."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        prepare_worker()
        frame: Frame = pickle.loads(row[_ITEM])
        return _tried(self.job, frame, "load", lambda: load(self.job, frame))


class _Calibrate:
    """The second: an actor, whose network stays loaded."""

    def __init__(self, job: Job) -> None:
        prepare_worker()
        self.job = job

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        loaded = pickle.loads(row[_ITEM])
        if isinstance(loaded, Outcome):
            return row
        return _tried(self.job, loaded.frame, "calibrate", lambda: calibrate(self.job, loaded))


class _Commit:
    """The last."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        done = pickle.loads(row[_ITEM])
        return row if isinstance(done, Outcome) else {_ITEM: pickle.dumps(commit(self.job, done))}


def _tried(job: Job, frame: Frame, stage: str, work: Callable[[], object]) -> dict[str, Any]:
    """A row with what `work` gives, or with a failure where workers died over this stage of the frame before."""
    with attempt(Path(job.out), stage, frame.id, LIVES) as may:
        return {_ITEM: pickle.dumps(work() if may else failed(frame.id, died(frame)))}
