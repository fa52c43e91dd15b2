"""Runs a batch job: lists its frames, has them done, keeps the manifest, and says what happened."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mrac.batch_jobs import folders, parquet_rows, recorded
from mrac.batch_jobs.executors import Resources, executor
from mrac.batch_jobs.job import CHECKS, FORMATS, Frame, Job, Outcome, Record, job_digest
from mrac.batch_jobs.manifest import finish, held, read_manifest
from mrac.batch_jobs.readings import Readings
from mrac.errors import ContractError
from mrac.io.input_file import resolved
from mrac.version import __version__

if TYPE_CHECKING:
    from mrac.pipeline import Calibrator


@dataclass
class Summary:
    """What became of the frames of a job.

    Attributes:
        actions: how many were `computed`, `repaired`, `kept`, `failed`.
        statuses: how many scenes ended so; `ok` is the usual one.
        failures: the records of those that failed.
        seconds: from the first frame handed out to the last one done.
        stage_ms: mean time of each stage over the frames computed.
    """

    actions: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    failures: list[Record] = field(default_factory=list)
    seconds: float = 0.0
    stage_ms: dict[str, float] = field(default_factory=dict)

    @property
    def num_computed(self) -> int:
        """Frames that were computed in this run."""
        return self.actions["computed"] + self.actions["repaired"]


def make_job(
    calibrator: "Calibrator",
    out: Path,
    readings: Readings | None = None,
    format: str = "npz",
    check: str = "hash",
) -> Job:
    """A job; see `Job` for the arguments.

    Raises:
        ContractError: a stage has no registered name, so that another process cannot make it; or a file of `readings`
            is missing.
    """
    for name, value, known in (("format", format, FORMATS), ("check", check, CHECKS)):
        if value not in known:
            raise ContractError(f"batch: {name}={value!r} arrived; one of {', '.join(known)} is needed")
    readings, config = readings or Readings(), calibrator.config()
    digest = job_digest(config, getattr(calibrator.foundation, "identity", None), readings, format, __version__)
    return Job(str(resolved(out)), json.dumps(config), readings, format, check, digest)


def list_frames(inputs: Sequence[Path], anchors: Path | None = None, kind: str | None = None) -> list[Frame]:
    """The frames of folders, Parquet files and recordings; with several inputs, ids begin with the name of theirs.

    Args:
        inputs: folders of images and readings (`folders`), .parquet files (`parquet_rows`), recordings (`recorded`).
        anchors: folder of the readings, where they are not beside the images.
        kind: of the readings, see `mrac.anchors.sources`.

    Raises:
        ContractError: an input is neither, has no frame, or two frames have one id.
    """
    found: list[Frame] = []
    for path in map(resolved, inputs):  # workers may be elsewhere
        if recorded.is_recording(path):
            own = list(recorded.frames_in(path, kind))
        elif path.is_dir():
            own = list(folders.frames_in(path, None if anchors is None else resolved(anchors), kind))
        elif path.is_file() and path.suffix.lower() == ".parquet":
            own = list(parquet_rows.frames_in(path))
        else:
            what = "no such file or folder" if not path.exists() else f"a file that ends in {path.suffix!r}"
            raise ContractError(
                f"batch: {path}: {what}; a folder of images and readings, a .parquet or a "
                "recording (.mcap, .bag, .db3) is needed"
            )
        if not own:
            raise ContractError(f"batch: {path}: no frame inside; images and readings with the same stem are needed")
        found += own if len(inputs) == 1 else [replace(one, id=f"{path.stem}/{one.id}") for one in own]
    _check_ids(found)
    return found


def run_job(
    job: Job,
    frames: Sequence[Frame],
    executor_name: str,
    resources: Resources,
    report: Callable[[Outcome], object] = lambda outcome: None,
) -> Summary:
    """Does every frame that is not committed yet, and writes the manifest.

    A run that is stopped or killed loses nothing that was committed: the next one with the same arguments goes on.

    Args:
        job: see `Job`.
        frames: of `list_frames`.
        executor_name: see `executors`.
        resources: what it may use.
        report: called for every outcome, as soon as it is known.

    Raises:
        ContractError: another job is writing to the folder, or workers cannot run.
    """
    out = Path(job.out)
    with held(out):
        known = read_manifest(out)
        planned = [replace(frame, previous=known.pop(frame.id, ())) for frame in frames]
        start, outcomes = time.perf_counter(), []
        for outcome in executor(executor_name)(job, planned, resources):
            outcomes.append(outcome)
            report(outcome)
        seconds = time.perf_counter() - start
        # Of frames that are no part of this job, the last record stands.
        finish(out, [*(outcome.record for outcome in outcomes), *(records[-1] for records in known.values())])
    return _summary(outcomes, seconds)


def _summary(outcomes: Iterable[Outcome], seconds: float) -> Summary:
    found, total_ms = Summary(seconds=seconds), dict[str, float]()
    for outcome in outcomes:
        found.actions[outcome.action] += 1
        found.statuses[outcome.record.status] += 1
        if outcome.action == "failed":
            found.failures.append(outcome.record)
        for stage, ms in outcome.times_ms.items():
            total_ms[stage] = total_ms.get(stage, 0.0) + ms
    found.failures.sort(key=lambda record: record.id)
    found.stage_ms = {stage: total / max(found.num_computed, 1) for stage, total in total_ms.items()}
    return found


def _check_ids(frames: Sequence[Frame]) -> None:
    """Ids name files below --out, so none may lead out of it."""
    for name, count in Counter(frame.id for frame in frames).items():
        if count > 1:
            raise ContractError(f"batch: {count} frames have the id {name!r}; each needs one of its own: rename them")
        parts = PurePosixPath(name).parts
        if not parts or "/" in parts or ".." in parts or parts[0].startswith(".") or "\\" in name or "\0" in name:
            raise ContractError(
                f"batch: a frame has the id {name!r}; a name inside --out is needed: no leading / or ., no .."
            )
