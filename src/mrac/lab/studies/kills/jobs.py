"""The jobs that are killed: small, but the commands that a person gives; what of each is finished, and what comes out.

Finished work is named, with what shows that it was neither changed nor made again: the inode of a file that is only
ever replaced, the measured time in a row of the benchmark, the bytes of a record.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from safetensors import safe_open

from mrac.batch_jobs.manifest import read_manifest
from mrac.io.files import sha256_of
from mrac.lab.bench.store import CELL_COLUMNS, finished, journalled, read_run
from mrac.lab.studies.kills import cache_writer
from mrac.lab.studies.kills.data import write_frames, write_pack
from mrac.lab.studies.recordings import make_recording
from mrac.lab.train.log import LOG, STATE
from mrac.recordings.journal import whole_records
from mrac.recordings.run import JOURNAL
from mrac.runtime.cache import PredictionCache
from mrac.runtime.weight_files import WEIGHTS

Named = dict[str, str]
_MRAC = (sys.executable, "-m", "mrac")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command that may be given again.

    Attributes:
        name: of what it writes.
        out: file or folder that it writes, by its name.
        words: the command, given the path of that.
        kept: given that path, what is finished; empty where the end of the job takes it away.
        result: what came out.
        again: of what it says at its end, how many of so many finished things it made again; 0 where `kept` tells.
        is_done: whether the end had come, so that the command would only be refused: there is nothing left to do.
        settle: makes what is only removed in time old.
    """

    name: str
    out: str
    words: Callable[[Path], list[str]]
    kept: Callable[[Path], Named]
    result: Callable[[Path], Named]
    again: Callable[[str, int], int] = lambda said, num_kept: 0
    is_done: Callable[[Path], bool] = lambda out: False
    settle: Callable[[Path], None] = lambda out: None


def make_jobs(folder: Path, size: int) -> list[Job]:
    """All jobs, the quickest first, with inputs in `folder` that are so many times as large as the smallest."""
    write_pack(folder / "train", {"desk": 2, "shelf": 2}, "depth")
    write_pack(folder / "eval", {"room": size}, "gt")
    write_frames(folder / "frames", 8 * size)
    make_recording(folder / "in.mcap", 10 * size)
    return [
        _cache(20 * size),
        _bag(folder / "in.mcap"),
        _batch(folder / "frames"),
        _bench(folder / "eval"),
        _gate(folder / "train"),
        _head(folder / "train", size),
    ]


def _gate(pack: Path) -> Job:
    def words(out: Path) -> list[str]:
        options = ["--out-of-fold", str(WEIGHTS / "embedded.onnx"), "--epochs", "10", "--scenes", "4", "--workers", "2"]
        return [*_MRAC, "train", "gate", "--data", str(pack), "--out", str(out), *options]

    def kept(out: Path) -> Named:
        return {path.name: _file(path) for path in out.glob("scenes/[!.]*.npz")}

    def result(out: Path) -> Named:
        return {path.name: sha256_of(path) for path in (*out.glob("scenes/*.npz"), *out.glob("*.npz"), out / LOG)}

    return Job(name="training of a gate", out="gate", words=words, kept=kept, result=result)


def _head(pack: Path, size: int) -> Job:
    def words(out: Path) -> list[str]:
        options = ["--epochs", str(2 * size), "--batch", "2", "--hold-out", "0.3", "--score-every", "1"]
        return [*_MRAC, "train", "vanilla", "--data", str(pack), "--out", str(out), "--device", "cpu", *options]

    def kept(out: Path) -> Named:
        if not (out / STATE).is_file():
            return {}
        with safe_open(out / STATE, framework="np") as file:
            return {f"step {i + 1}": "" for i in range(json.loads(file.metadata()["state"])["step"])}

    def result(out: Path) -> Named:
        networks = {path.name: _tensors(path) for path in out.glob("*.safetensors")}
        return {**networks, **{path.name: sha256_of(path) for path in (out / "vanilla.onnx", out / LOG)}}

    return Job(name="training of a head", out="head", words=words, kept=kept, result=result)


def _bench(pack: Path) -> Job:
    def words(out: Path) -> list[str]:
        options = ["--protocol", "quick", "--methods", "mrac,default", "--data", str(pack), "--workers", "2"]
        return [*_MRAC, "bench", "run", *options, "--out", str(out)]

    def kept(out: Path) -> Named:
        rows = [row for _, row in journalled(out / "journal.jsonl")]
        if finished(out):
            rows += read_run(out).to_pylist()
        return {"/".join(str(row[name]) for name in CELL_COLUMNS): str(row["time_ms"]) for row in rows}

    def result(out: Path) -> Named:
        rows = read_run(out).drop_columns(["time_ms"]).to_pylist()
        return {"/".join(str(row[name]) for name in CELL_COLUMNS): json.dumps(row) for row in rows}

    return Job(name="benchmark", out="bench", words=words, kept=kept, result=result)


def _batch(frames: Path) -> Job:
    def words(out: Path) -> list[str]:
        return [*_MRAC, "batch", str(frames), "--out", str(out), "--workers", "2", "--foundation", "none", "--json"]

    def kept(out: Path) -> Named:
        found = {}
        for name, records in read_manifest(out).items():
            for record in records:
                path = out / record.file
                if record.file and path.is_file() and sha256_of(path) == record.sha256:
                    found[name] = _file(path)
        return found

    def result(out: Path) -> Named:
        return {path.name: sha256_of(path) for path in (*out.glob("*.npz"), out / "manifest.jsonl")}

    return Job(name="batch", out="batch", words=words, kept=kept, result=result)


def _bag(source: Path) -> Job:
    def words(out: Path) -> list[str]:
        return [*_MRAC, "bag", str(source), "--out", str(out), "--foundation", "none", "--max-anchors", "50", "--json"]

    def kept(out: Path) -> Named:
        journal = out.with_name(f"{out.name}.part") / JOURNAL
        if not journal.is_file():
            return {}
        with journal.open("rb") as file:
            records = [hashlib.sha256(content).hexdigest() for _, content in whole_records(file)]
        return {f"frame {i}": digest for i, digest in enumerate(records[1:])}  # the first has the options

    def is_done(out: Path) -> bool:
        # By the journal, as the command does: a kill may leave its folder, empty.
        return out.exists() and not (out.with_name(f"{out.name}.part") / JOURNAL).exists()

    def again(said: str, num_kept: int) -> int:
        return num_kept - sum('"skipped"' in line for line in said.splitlines())

    def result(out: Path) -> Named:
        return {out.name: sha256_of(out)}

    return Job(name="recording", out="out.mcap", words=words, kept=kept, result=result, again=again, is_done=is_done)


def _cache(num: int) -> Job:
    def words(out: Path) -> list[str]:
        return [sys.executable, "-m", cache_writer.__name__, str(out), str(num), "0"]

    def whole(out: Path) -> Iterator[tuple[str, Path]]:
        for number in range(num):
            key = cache_writer.key(number)
            if PredictionCache(out).get(key) is not None:
                yield key, out / f"{key}.rel"

    def kept(out: Path) -> Named:
        return {key: _file(path) for key, path in whole(out)}

    def result(out: Path) -> Named:
        return {key: sha256_of(path) for key, path in whole(out)}

    def settle(out: Path) -> None:
        # What a killed writer left is removed by the next write an hour later: two hours pass, and there is one.
        for part in out.glob("*.part"):
            os.utime(part, (time.time() - 7200.0,) * 2)
        PredictionCache(out).put(cache_writer.key(0), cache_writer.prediction(0))

    return Job(name="cache", out="cache", words=words, kept=kept, result=result, settle=settle)


def _file(path: Path) -> str:
    return f"{path.stat().st_ino} {sha256_of(path)}"


def _tensors(path: Path) -> str:
    """Of what a .safetensors file holds: the order of its words is the library's own, and changes."""
    content = hashlib.sha256()
    with safe_open(path, framework="np") as file:
        content.update(json.dumps(file.metadata(), sort_keys=True).encode())
        for name in sorted(file.keys()):
            content.update(name.encode() + file.get_tensor(name).tobytes())
    return content.hexdigest()
