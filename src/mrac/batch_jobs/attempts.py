"""How often workers died over a frame: marks in files, since a killed worker can tell nobody else.

Ray repeats the task of a dead worker without end; a frame that kills every worker, for want of memory say, would keep
a job from ever coming to its end.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mrac.batch_jobs.manifest import work_folder


@contextmanager
def attempt(out: Path, stage: str, frame_id: str, most: int) -> Iterator[bool]:
    """Whether a frame may be tried: fewer than `most` tries of this stage have begun without coming to an end.

    Args:
        out: folder of the job.
        stage: a name; each has tries of its own.
        frame_id: of the frame.
        most: tries that may be lost.
    """
    name = hashlib.sha256(f"{stage}\n{frame_id}".encode()).hexdigest()[:32]
    marks = [work_folder(out) / "attempts" / f"{name}.{number}" for number in range(most)]
    mark = next((mark for mark in marks if not mark.exists()), None)
    if mark is not None:
        mark.parent.mkdir(exist_ok=True)
        mark.touch()
    try:
        yield mark is not None
    finally:
        if mark is not None:
            for one in marks[: marks.index(mark) + 1]:
                one.unlink(missing_ok=True)
