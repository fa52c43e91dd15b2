"""A process that is forked while other threads compute does not wait for what only its parent has."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

START = """
import os, signal, sys, threading, warnings
sys.path[:0] = {paths!r}
warnings.simplefilter("ignore", DeprecationWarning)  # which Python 3.12 gives for a fork among threads
import numpy as np

def in_child(check):
    child = os.fork()
    if not child:
        signal.alarm(60)  # a child that waits for ever ends by this signal
        os._exit(0 if check() else 3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""

LOADING = """
from mrac.runtime import onnx_session, providers
from numba.core.compiler_lock import global_compiler_lock
import mrac.runtime.jit
holds = threading.Event()
for lock in (onnx_session._loading, providers._choosing, global_compiler_lock):
    holds.clear()
    def hold():
        with lock:
            holds.set()
            threading.Event().wait(0.2)
    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    def free():
        lock.acquire()
        return True
    print(in_child(free))
    thread.join()
"""

SESSION = """
from mrac.foundation.embedded import Embedded
from mrac.runtime import onnx_session
image = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
wanted = Embedded()(image).values
def same():
    return not onnx_session._sessions and np.array_equal(Embedded()(image).values, wanted)
print(in_child(same), len(onnx_session._sessions))
"""

PROPERTY = """
from mrac.lazy import computed_once
inside, go_on = threading.Event(), threading.Event()
class Thing:
    def __init__(self, waits): self.waits = waits
    @computed_once
    def value(self):
        if self.waits:
            inside.set()
            go_on.wait()
        return [1]
thread = threading.Thread(target=lambda: Thing(True).value)
thread.start()
inside.wait()
thing = Thing(False)
print(in_child(lambda: Thing(False).value == [1]), thing.value is thing.value)
go_on.set()
thread.join()
"""


@pytest.mark.parametrize(
    ("code", "wanted"),
    [(LOADING, ["0", "0", "0"]), (SESSION, ["0", "1"]), (PROPERTY, ["0", "True"])],
    ids=["locks", "sessions", "properties"],
)
def test_a_forked_child_goes_on(code: str, wanted: list[str]) -> None:
    """Of 40 children forked while two threads calibrated, two waited for ever; while a network loaded, all."""
    script = START.format(paths=sys.path) + code
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == wanted
