"""A folder of results is one run's: with two writers, with a full disk, after a kill."""

import errno
import gc
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from mrac import Calibrator, ContractError
from mrac.frames import Manifest
from mrac.io.folders import PART, locked_folder, staging
from mrac.result.folder import RESULT_FILES, write_result
from tests.conftest import MadeScene


@pytest.fixture
def written(make_scene: Callable[..., MadeScene], tmp_path: Path) -> Any:
    scene = make_scene()
    result = Calibrator(foundation="none")(scene.image, scene.anchors)
    write_result(tmp_path, result, scene.anchors, {"run": 1})
    return result, scene.anchors


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


class FullDisk(io.FileIO):
    """A file on a disk that is full after a few bytes."""

    def write(self, data: Any) -> int:
        if self.tell() + len(memoryview(data).cast("B")) > 2000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def full(path: Path, mode: str = "r", *rest: Any, **more: Any) -> IO[Any]:
        return FullDisk(path, "x") if mode == "xb" else opened(path, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", full)


def test_a_full_disk_leaves_the_earlier_result_and_names_the_file(
    written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the earlier report.json was deleted first, and the message had no file in it."""
    before = contents(tmp_path)
    fill_disk(monkeypatch)
    result, anchors = written
    with pytest.raises(OSError, match=r"No space left.*depth\.npz") as error:
        write_result(tmp_path, result, anchors, {"run": 2})
    assert error.value.filename == str(tmp_path / "depth.npz")
    assert contents(tmp_path) == before
    assert {path.name for path in tmp_path.iterdir()} == set(before)


@pytest.mark.parametrize("suffix", [".npz", ".png", ".tif", ".bin"])
def test_every_file_of_a_full_disk_is_named(
    suffix: str, written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a{suffix}"
    written[0].save(path)
    before = path.read_bytes()
    fill_disk(monkeypatch)
    with pytest.raises(OSError, match="No space left") as error:
        written[0].save(path)
    assert error.value.filename == str(path)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".a*"))
    # Before, what the traceback held of a TIFF was collected with a view of it still open: Python 3.12 crashed on that.
    gc.collect()


WRITER = """
import sys
sys.path[:0] = {paths!r}
import numpy as np
from dataclasses import replace
from pathlib import Path
from mrac import Anchors, Calibrator
from mrac.result.folder import write_result
number = float(sys.argv[2])
anchors = Anchors([[5, 5], [20, 9]], [number, number])
result = Calibrator(foundation="none")(np.zeros((24, 32, 3), np.uint8), anchors)
result = replace(result, depth_m=np.full((24, 32), number, np.float32))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(6):
    write_result(Path(sys.argv[1]), result, anchors, {{"number": number}})
"""


def test_two_writers_leave_the_files_of_one_of_them(tmp_path: Path) -> None:
    """Before, in 2 of 8 such races report.json was of one run and depth.npz of the other."""
    command = [sys.executable, "-c", WRITER.format(paths=sys.path), str(tmp_path)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers: list[Any] = [subprocess.Popen([*command, number], **pipes) for number in ("2", "3")]
    try:
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            writer.stdin.write("\n")
            writer.stdin.flush()
        assert [writer.wait(60) for writer in writers] == [0, 0]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    number = json.loads((tmp_path / "report.json").read_text())["inputs"]["number"]
    with np.load(tmp_path / "depth.npz") as stored:
        assert (stored["depth_m"] == number).all()
    assert {path.name for path in tmp_path.iterdir()} == set(RESULT_FILES) - {"nearer.npz"}


def test_a_folder_of_many_frames_is_one_run_s_at_a_time(tmp_path: Path) -> None:
    first, second = Manifest(tmp_path, {"a": 1}), Manifest(tmp_path, {"a": 2})
    with first:
        with pytest.raises(ContractError, match="another process"), Manifest(tmp_path, {"a": 1}):
            pass
        first.add({"frame": "x", "inputs": ""})
    with pytest.raises(ContractError, match="other options"), second:  # which looked before the first one began
        pass
    with Manifest(tmp_path, {"a": 1}) as third:
        assert third.finished("x", "", [])


def test_what_a_killed_run_left_is_removed_by_the_next(written: Any, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "import os, signal; from pathlib import Path; from mrac.io.folders import staging\n"
        f"with staging(Path({str(tmp_path)!r})) as part:\n"
        "    (part / 'depth.npz').write_bytes(b'half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(f"{PART}*"))) == 1
    with staging(tmp_path) as alive:  # of a process that is at work
        write_result(tmp_path, written[0], written[1], {"run": 2})
        assert list(tmp_path.glob(f"{PART}*")) == [alive]
    assert {path.name for path in tmp_path.iterdir()} == set(RESULT_FILES) - {"nearer.npz"}


def test_temporary_files_of_a_killed_run_are_removed_on_resume(tmp_path: Path) -> None:
    kept = [".hidden", ".manifest.jsonl", "a.0123abcd", ".a.0123abcz"]
    for name in (*kept, ".manifest.jsonl.0123abcd", ".x.npz.ffffffff"):
        (tmp_path / name).write_text("half")
    with Manifest(tmp_path, {}):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {*kept, "manifest.jsonl"}


def test_a_second_writer_waits_only_so_long(written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrac.result.folder._WAIT_S", 0.0)
    before = contents(tmp_path)
    result, anchors = written
    other = replace(result, depth_m=2 * result.depth_m)
    with locked_folder(tmp_path), pytest.raises(ContractError, match="another process"):
        write_result(tmp_path, other, anchors, {})
    assert contents(tmp_path) == before


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    (tmp_path / "manifest.jsonl").write_text('{"options": [1]}\n{"frame": 5}\n')
    with pytest.raises(ContractError, match=r"manifest\.jsonl.*--restart"):
        Manifest(tmp_path, {})
    with Manifest(tmp_path, {}, restart=True):
        pass
