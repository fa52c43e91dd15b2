from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mrac.lab.bench.protocol import Protocol
from tests.lab.packs import write_pack

# Without a network: rows cost a millisecond.
METHODS = ("cfa_ols;foundation=none", "default;foundation=none", "default;foundation=none;gate=none")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return write_pack(tmp_path / "pack", room=3, street=2)


@pytest.fixture
def make_protocol() -> Callable[..., Protocol]:
    def make(**lists: Any) -> Protocol:
        grid = {"sets": ["room"], "methods": list(METHODS[:1]), **lists}
        return Protocol.of({"name": "made", "grid": [grid]})

    return make
