"""Runs a function in a forked process with limits, into which the package is imported anew."""

import gc
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_MEMORY: Final = 6 << 30  # bytes that a mutant may ask for beyond what its parent has

Say = Callable[[dict[str, Any]], None]
Run = Callable[[Say], None]


def own_modules() -> list[str]:
    """What is imported anew in each fork: the package and the tests, all that comes from the checkout."""
    here = f"{Path.cwd()}{os.sep}"
    files = {name: str(getattr(module, "__file__", None) or "") for name, module in list(sys.modules.items())}
    return [name for name, file in files.items() if file.startswith(here) and "site-packages" not in file]


def forked(run: Run, wall_s: float, cpu_s: float | None = None) -> dict[str, Any] | None:
    """What `run` says in a forked process, which ends then; None where a limit or a crash ends it before.

    Args:
        run: takes the function to answer by.
        wall_s: seconds to wait.
        cpu_s: of processor time; None is without a limit, of memory too.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    gc.freeze()  # else the child's collector touches, and so copies, all that the parent has loaded
    child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(run, writing, cpu_s)
    os.close(writing)
    said, end = b"", time.monotonic() + wall_s
    while select.select([reading], [], [], max(end - time.monotonic(), 0.0))[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            break
        said += part
    os.close(reading)
    os.kill(child, signal.SIGKILL)  # it has answered, or will not
    os.waitpid(child, 0)
    try:
        return json.loads(said) if said else None
    except ValueError:
        return None


def _in_child(run: Run, writing: int, cpu_s: float | None) -> None:
    def say(answer: dict[str, Any]) -> None:
        said = json.dumps(answer).encode()
        while said:
            said = said[os.write(writing, said) :]
        os._exit(0)  # no clean-up: pytest's takes longer than most tests

    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.stdout = sys.stderr = os.fdopen(null, "w", encoding="utf-8")
    if cpu_s is not None:
        seconds = int(cpu_s) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
    for name in own_modules():
        if not name.startswith("mrac.lab.studies.mutation"):
            del sys.modules[name]
    try:
        run(say)
    except BaseException as error:  # a mutant may end in anything
        say({"killer": f"{type(error).__name__} outside of tests"})
    os._exit(1)
