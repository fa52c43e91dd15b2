"""What a batch job is made of: the job, its frames, the records of the manifest and the outcomes that workers report.

All are plain values: they travel between processes, and between machines.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, Self

from mrac.batch_jobs.readings import Readings
from mrac.errors import ContractError

FORMATS: Final = ("npz", "parquet")
CHECKS: Final = ("hash", "size")
Action = Literal["computed", "repaired", "kept", "failed"]


@dataclass(frozen=True)
class Job:
    """What all frames of a run share.

    Attributes:
        out: folder of the results, the same path for all workers.
        config: of the calibrator, as JSON (`Calibrator.config`).
        readings: how files of readings are read.
        format: of a result: `npz` (as `MetricDepth.save`) or `parquet` (one part, one row).
        check: of a result that the manifest has: `hash` reads the file, `size` only looks at its length.
        digest: of everything that decides a result besides the frame itself.
    """

    out: str
    config: str
    readings: Readings = field(default_factory=Readings)
    format: str = "npz"
    check: str = "hash"
    digest: str = ""


@dataclass(frozen=True)
class Record:
    """A line of the manifest: what was made of a frame.

    Attributes:
        id: of the frame.
        key: SHA-256 of image, readings and configuration; "" of a frame that failed.
        file: of the result, below the job's folder.
        num_bytes: of that file.
        sha256: of that file.
        status: of the scene (`MetricDepth.status`), or `failed`.
        error: why it failed.
    """

    id: str
    key: str = ""
    file: str = ""
    num_bytes: int = 0
    sha256: str = ""
    status: str = "failed"
    error: str = ""

    def to_line(self) -> bytes:
        """One line of JSON; in ASCII, which also holds file names that are no text."""
        return (json.dumps(asdict(self)) + "\n").encode()

    @classmethod
    def of_line(cls, line: bytes) -> Self | None:
        """The record in a line; None where a killed worker left a part of one."""
        try:
            values = json.loads(line)
            return cls(**values)
        except (ValueError, TypeError):
            return None


@dataclass(frozen=True)
class Frame:
    """One image with its readings: two files, or a row of a Parquet file.

    Attributes:
        id: names the result; unique in a job; with slashes it is in folders.
        image: path of the image, or of the Parquet file.
        anchors: path of the readings; "" for a row.
        row: number of the row in the Parquet file; -1 for files.
        fault: why the frame cannot be done, known before anything is read: an image without readings, or readings
            without an image.
        previous: what the manifest says of this id; more than one after a kill, of which the file decides.
    """

    id: str
    image: str
    anchors: str = ""
    row: int = -1
    fault: str = ""
    previous: tuple[Record, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a worker reports of a frame.

    Attributes:
        record: the line of the manifest.
        action: `computed`, `repaired` (computed again, since the file was damaged), `kept` or `failed`.
        times_ms: by stage, of a frame that was computed.
    """

    record: Record
    action: Action
    times_ms: dict[str, float] = field(default_factory=dict)


def failed(frame_id: str, error: Exception | str) -> Outcome:
    """The outcome of a frame that cannot be done."""
    text = error if isinstance(error, str) else str(error)
    if isinstance(error, Exception) and not isinstance(error, ContractError | OSError):
        text = f"{type(error).__name__}: {error}"
    return Outcome(Record(frame_id, error=" ".join(text.split())), "failed")


def job_digest(config: dict[str, Any], identity: str | None, readings: Readings, format: str, version: str) -> str:
    """SHA-256 of everything that decides a result besides the frame.

    Args:
        config: of the calibrator; where predictions are cached changes no result.
        identity: of the foundation's network file.
        readings: their files (camera, pose) count by content.
        format: of the results.
        version: of this package.
    """
    chosen = {name: value for name, value in config.items() if name != "cache"}
    parts = [chosen, identity, readings.identity(), format, version]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def frame_key(digest: str, *contents: bytes) -> str:
    """SHA-256 of a frame's contents under a job's digest."""
    found = hashlib.sha256(f"mrac batch 1\n{digest}\n".encode())
    for content in contents:
        # The length comes first: no image can end where its readings begin.
        found.update(f"{len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()
