"""ONNX files that read others, need other code or state absurd sizes never reach the runtime."""

import hashlib
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from mrac import Anchors, Calibrator, ContractError
from mrac.runtime import onnx_check
from mrac.runtime.onnx_check import check_onnx
from mrac.runtime.onnx_session import network_metadata, run_network
from mrac.runtime.weight_files import WEIGHTS
from tests.contract.test_foundation import picture, write_network
from tests.onnx_file import field_bytes, field_number, field_text

ONE = np.ones(2, np.float32)
READINGS = Anchors(np.array([[1.0, 1.0], [9.0, 9.0], [30.0, 20.0]]), np.array([1.0, 2.0, 3.0]))
EXTERNAL = field_bytes(13, field_text(1, "location") + field_text(2, "/etc/passwd")) + field_number(14, 1)
TENSOR = field_number(1, 2) + field_number(2, 1) + field_text(8, "w")  # two float32 called w, without their values
VALUES = field_bytes(9, ONE.tobytes())


def node(operator: str, domain: str = "", attribute: bytes = b"") -> bytes:
    names = field_text(1, "x") + field_text(2, "y") + field_text(4, operator)
    return names + (field_text(7, domain) if domain else b"") + (field_bytes(5, attribute) if attribute else b"")


def model(graph: bytes, more: bytes = b"") -> bytes:
    return field_number(1, 8) + field_bytes(7, graph) + field_bytes(8, field_number(2, 13)) + more


def in_branch(inner: bytes) -> bytes:
    """A graph whose `If` has `inner` as a branch."""
    return field_bytes(1, node("If", attribute=field_text(1, "then_branch") + field_bytes(6, inner)))


def array(shape: list[int]) -> bytes:
    """The description of an output."""
    sizes = b"".join(field_bytes(1, field_number(1, size)) for size in shape)
    return field_text(1, "y") + field_bytes(2, field_bytes(1, field_number(1, 1) + field_bytes(2, sizes)))


SPARSE = field_bytes(1, TENSOR + VALUES) + field_number(3, 1 << 20) + field_number(3, 1 << 20)
HOSTILE = {
    "external": (model(field_bytes(5, TENSOR + EXTERNAL)), r"keeps weights \('w'\) in another file"),
    "external, in an attribute": (
        model(field_bytes(1, node("Constant", attribute=field_bytes(5, TENSOR + EXTERNAL)))),
        "keeps weights",
    ),
    "external, in a list": (
        model(field_bytes(1, node("Constant", attribute=field_bytes(10, TENSOR + EXTERNAL)))),
        "keeps weights",
    ),
    "external, in a branch": (model(in_branch(in_branch(field_bytes(5, TENSOR + EXTERNAL)))), "keeps weights"),
    "external, in a function": (
        model(b"", field_bytes(25, field_bytes(7, node("C", attribute=field_bytes(5, TENSOR + EXTERNAL))))),
        "keeps weights",
    ),
    "external, sparse": (model(field_bytes(15, field_bytes(1, TENSOR + EXTERNAL))), "keeps weights"),
    "external, in training": (
        model(b"", field_bytes(20, field_bytes(1, field_bytes(5, TENSOR + EXTERNAL)))),
        "keeps weights",
    ),
    "external, by another number": (model(field_bytes(5, TENSOR + field_number(14, (1 << 32) + 1))), "keeps weights"),
    "operator": (model(field_bytes(1, node("Shell", "evil.example"))), r"operator 'Shell' of 'evil\.example'"),
    "operator, in a branch": (model(in_branch(field_bytes(1, node("Shell", "evil")))), "operator 'Shell'"),
    "operator, said twice": (
        model(field_bytes(1, node("Shell", "ai.onnx") + field_text(7, "evil"))),
        "operator 'Shell'",
    ),
    "operator that reads a file": (model(field_bytes(1, node("EPContext", "com.microsoft"))), "EPContext"),
    "tensor too large": (
        model(field_bytes(5, TENSOR + field_number(1, 1 << 40) + VALUES)),
        r"'w' states 2,199,023,255,552 elements in \d+ bytes",
    ),
    "tensor of packed sizes": (
        model(field_bytes(5, field_bytes(1, b"\xff\xff\xff\x7f") + VALUES)),
        "states 268,435,455 elements",
    ),
    "negative size": (model(field_bytes(5, field_number(1, (1 << 64) - 2) + VALUES)), "negative size"),
    "many axes": (model(field_bytes(5, field_number(1, 1) * 100 + VALUES)), "64 axes"),
    "sparse and large": (model(field_bytes(15, SPARSE)), r"shape \(1048576, 1048576\): 4398\.0 GB"),
    "output too large": (model(field_bytes(12, array([1, 100_000, 100_000]))), r"100000\): 40\.0 GB"),
    "intermediate too large": (model(field_bytes(13, array([1 << 40]))), "GB"),
    "cut": (model(field_bytes(5, TENSOR + VALUES))[:-20], r"a field of \d+ bytes where \d+ are left"),
    "endless number": (b"\x08" + b"\xff" * 1000, "a number without an end"),
    "group": (b"\x0b", "wire type 3"),
    "no text": (model(field_bytes(1, field_bytes(4, b"\xff"))), "not a usable ONNX file"),
    "ONNX Runtime's own format": (b"\x24\x00\x00\x00ORTM" + bytes(64), "not a usable ONNX file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_before_the_runtime_sees_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, says = HOSTILE[name]
    path = tmp_path / "net.onnx"
    path.write_bytes(content)

    def never(*args: object, **kwargs: object) -> None:
        pytest.fail("the runtime has it")

    monkeypatch.setattr(onnxruntime, "InferenceSession", never)
    for use in (lambda: run_network(path, ONE, "stage"), lambda: network_metadata(path, "stage")):
        with pytest.raises(ContractError, match=says) as caught:
            use()
        assert str(caught.value).startswith(f"stage: {path}")
        assert "\n" not in str(caught.value)


def test_the_file_that_it_names_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_network(tmp_path / "net.onnx", weights_file="net.data")
    opened: list[str] = []
    kept = Path.open

    def spy(self: Path, *args: object, **kwargs: object) -> object:
        opened.append(self.name)
        return kept(self, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", spy)
    with pytest.raises(ContractError, match=r"foundation/onnx: .*net\.onnx keeps weights"):
        Calibrator(foundation=f"onnx:path={tmp_path / 'net.onnx'}")(picture(), READINGS)
    assert "net.data" not in opened


@pytest.mark.parametrize("head", ["residual_unet", "raw_unet", "sml"])
def test_heads_refuse_it_too(head: str, tmp_path: Path) -> None:
    (tmp_path / "head.onnx").write_bytes(HOSTILE["external"][0])
    with pytest.raises(ContractError, match=rf"head/{head}: .*head\.onnx keeps weights"):
        Calibrator("mrac", head=f"{head}:weights={tmp_path / 'head.onnx'}")(picture(), READINGS)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_saved_folder_with_it_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    write_network(path)
    Calibrator(foundation=f"onnx:path={path}").save(tmp_path / "saved")
    inside = tmp_path / "saved" / "weights" / "foundation" / "path" / "net.onnx"
    manifest = tmp_path / "saved" / "calibrator.json"
    before = digest(inside), inside.stat().st_size
    inside.write_bytes(HOSTILE["operator"][0])
    text = manifest.read_text().replace(before[0], digest(inside))
    manifest.write_text(text.replace(f'"bytes": {before[1]}', f'"bytes": {inside.stat().st_size}'))
    with pytest.raises(ContractError, match=r"load: .*net\.onnx uses the operator 'Shell'"):
        Calibrator.load(tmp_path / "saved")


def test_a_file_of_endless_fields_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_check, "_MAX_FIELDS", 1000)
    (tmp_path / "net.onnx").write_bytes(model(field_number(99, 1) * 2000))
    with pytest.raises(ContractError, match="more than 1,000 fields"):
        check_onnx(tmp_path / "net.onnx", "stage")


def test_nesting_does_not_end_the_process(tmp_path: Path) -> None:
    inner = b""
    for _ in range(2000):
        inner = in_branch(inner)
    (tmp_path / "net.onnx").write_bytes(model(inner + field_bytes(5, TENSOR + EXTERNAL)))
    with pytest.raises(ContractError, match="keeps weights"):
        check_onnx(tmp_path / "net.onnx", "stage")


TWICE = field_text(1, "Twice") + field_text(10, "mine") + field_bytes(7, node("Add"))
HARMLESS = {
    "a function of its own": model(field_bytes(1, node("Twice", "mine")), field_bytes(25, TWICE)),
    "an operator of the runtime": model(field_bytes(1, node("FusedConv", "com.microsoft"))),
    "a size that is not known": model(field_bytes(12, array([(1 << 64) - 1, 3]))),
    "strings without a letter": model(field_bytes(5, field_number(1, 8) + field_bytes(6, b"") * 8)),
    "a tensor of no element": model(field_bytes(5, field_number(1, 0) + field_number(1, 1 << 40))),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_others_write_is_taken(name: str, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(HARMLESS[name])
    check_onnx(tmp_path / "net.onnx", "stage")


@pytest.mark.parametrize("path", sorted(WEIGHTS.glob("*.onnx")), ids=lambda path: path.name)
def test_our_own_files_are_taken(path: Path) -> None:
    check_onnx(path, "stage", weights_elsewhere=path.name == "dav2_small.onnx")
