"""Every weight file, foundation and method has its terms, in the table and in docs/licences.md."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from mrac import registry
from mrac.foundation._catalog import CATALOG
from mrac.licences import _STAGES, Terms, all_terms, method_terms
from mrac.methods import METHODS, Method
from mrac.runtime.weight_files import WEIGHTS
from tests.safetensors_file import write_random_weights

DOCUMENT = Path(__file__).parents[2] / "docs" / "licences.md"


def by_name(kind: str) -> dict[str, Terms]:
    return {one.name: one for one in all_terms() if one.kind == kind}


def test_nothing_is_without_terms() -> None:
    shipped = {path.name for path in WEIGHTS.iterdir() if path.suffix in (".onnx", ".npz", ".safetensors")}
    assert set(by_name("file")) >= shipped
    assert set(by_name("foundation")) == {*registry.names("foundation"), *CATALOG}
    assert set(by_name("method")) == set(METHODS)


def test_a_stage_that_reads_weights_is_known_for_it() -> None:
    known = {start.partition(":")[0] for start in _STAGES}
    for stage in ("gate", "fit", "head"):
        for name in registry.names(stage):
            made = registry.load(stage, name)
            fields = [field.name for field in dataclasses.fields(made)] if dataclasses.is_dataclass(made) else []
            assert ("weights" in fields) == (name in known), name


def test_the_document_has_every_row() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    missing = [one for one in all_terms() if f"| `{one.name}` | {one.use} | {one.why} |" not in lines]
    assert not missing, "write docs/licences.md anew from mrac.licences"
    rows = [line for line in lines if line.startswith("| `")]
    assert len(rows) == len(all_terms()), "rows of what is no more"


@pytest.mark.parametrize(
    ("method", "use"),
    [
        (METHODS["default"], "research only"),
        (METHODS["open"], "any use"),
        (Method(summary="", foundation="dav2-large"), "non-commercial"),
        (Method(summary="", foundation="none", gate="consensus_learned"), "research only"),
        (Method(summary="", foundation="dav2-large", gate="consensus_learned"), "research only"),
        (Method(summary="", foundation="onnx:mine.onnx"), "its own terms"),
        (Method(summary="", foundation="none", head="kriging"), "any use"),
    ],
)
def test_the_strictest_part_decides(method: Method, use: str) -> None:
    assert method_terms(method)[0] == use


WATCH = """
import sys, numpy as np
opened = set()
sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
from mrac import Anchors, Calibrator
image = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
anchors = Anchors(np.argwhere(np.ones((6, 8)))[:, ::-1] * 8.0, np.linspace(1, 4, 48))
print(Calibrator(sys.argv[1], foundation=sys.argv[2])(image, anchors).status)
print(*sorted({path.rpartition("/")[2] for path in opened if "mrac/weights/" in path}))
"""


def test_open_reads_no_weights_of_ours(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    write_random_weights(WEIGHTS / "dav2_small.onnx", weights)

    def watched(method: str, foundation: str) -> str:
        command = [sys.executable, "-c", WATCH, method, foundation]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert watched("open", "none").splitlines()[1] == ""
    assert watched("open", f"dav2-small:path={weights},size=56").splitlines()[1] == "dav2_small.onnx"
    assert "consensus_learned.npz" in watched("default", "none")  # the watch sees what is read
