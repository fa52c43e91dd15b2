"""The shipped networks of the learned heads, with their own metadata or with other: without torch and onnx."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mrac.head._rendering import Form
from mrac.runtime.weight_files import weights_path
from mrac.space import Space


@pytest.fixture(scope="session")
def residual() -> Path:
    """Trained in the form `metres` and in the space `depth`, as `raw` is."""
    return weights_path("vanilla", "tests")


@pytest.fixture(scope="session")
def raw() -> Path:
    return weights_path("raw_depth", "tests")


@pytest.fixture(scope="session")
def variant(residual: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The residual network's file with another form or space in its metadata."""
    folder = tmp_path_factory.mktemp("heads")

    def make(form: Form = "metres", space: Space = "depth") -> Path:
        path = folder / f"{form}-{space}.onnx"
        if not path.exists():
            write_with_metadata(residual, path, {"mrac.form": form, "mrac.space": space})
        return path

    return make


def write_with_metadata(source: Path, path: Path, metadata: Mapping[str, str]) -> None:
    """Copies an .onnx file and appends metadata, which replaces what it had under the same keys.

    An .onnx file is a protobuf message: appending a field that may stand several times (number 14, `metadata_props`)
    adds an entry, and of entries with one key the runtime takes the last.
    """
    entries = (field(14, field(1, key.encode()) + field(2, value.encode())) for key, value in metadata.items())
    path.write_bytes(source.read_bytes() + b"".join(entries))


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf's wire type 2, of fewer than 128 bytes."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content
