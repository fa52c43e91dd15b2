"""After `mrac warm` a first call in a new process compiles nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mrac.errors import ContractError
from mrac.warm_up import warm_up

# Counts what numba compiles anew: what is found in its cache is not compiled.
CALL = """
from numba.core import event
from mrac.demo import motorcycle
from mrac import Calibrator
compiled = []
class Listener(event.Listener):
    def on_start(self, e): pass
    def on_end(self, e): compiled.append(e.data)
scene = motorcycle()
with event.install_listener("numba:compile", Listener()):
    Calibrator()(scene.image, scene.anchors)
print(len(compiled))
"""


def call(cache: Path, *words: str) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "MRAC_CACHE": "off"}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.lab  # half a minute: everything is compiled twice
def test_the_first_call_after_it_compiles_nothing(tmp_path: Path) -> None:
    assert int(call(tmp_path / "cold", "-c", CALL)) > 0
    assert "default: ready" in call(tmp_path / "warm", "-m", "mrac", "warm")
    assert int(call(tmp_path / "warm", "-c", CALL)) == 0


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(ContractError, match="nope"):
        warm_up("nope")
