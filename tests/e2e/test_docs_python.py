"""Every block of docs/python.md runs as it stands, one after the other, and says what the page says."""

import io
import logging
import re
import shlex
import shutil
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.test_cli import mrac_here

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"```(python|sh)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_blocks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = io.StringIO()
    with redirect_stdout(printed):
        for language, block in BLOCKS:
            if language == "python" and "mrac.view" not in block:
                exec(compile(block, str(PAGE), "exec"), names)
    logging.getLogger("mrac").setLevel(logging.NOTSET)
    assert printed.getvalue().splitlines() == ["15 of 15 wrong readings rejected, 0 right ones", "1 of 2", "2 of 2"]
    assert "ok: 640×480, kept " in caplog.text
    for path in ("my_calibrator/calibrator.json", "my_calibrator/README.md", "results.npz", "result/report.json"):
        assert (tmp_path / path).is_file()


@pytest.mark.lab  # rerun is in the extra `view`
def test_the_lines_of_the_viewer_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_spec("rerun")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with redirect_stdout(io.StringIO()):
        for language, block in BLOCKS:
            if language == "python":
                exec(compile(block, str(PAGE), "exec"), names)
    logging.getLogger("mrac").setLevel(logging.NOTSET)
    assert (tmp_path / "result.rrd").stat().st_size > 100_000
    shutil.copytree("result", "results/room")
    frame = names["frame"]
    (tmp_path / "photos").mkdir()
    from PIL import Image  # noqa: PLC0415

    Image.fromarray(frame.image).save("photos/room.png")  # type: ignore[attr-defined]
    (lines,) = (block.splitlines() for language, block in BLOCKS if language == "sh")
    for line in lines:
        words = shlex.split(line, comments=True)
        if "--save" in words:
            done = mrac_here(*words[1:])
            assert done.returncode == 0, done.stderr
            assert Path(words[-1]).is_file()
