"""How much memory tests may use: the machine's, or less in a control group (a container, tests/small_machine.sh)."""

import os
from functools import cache
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


@cache
def memory_gb() -> float:
    """In 10⁹ bytes."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    if (own := Path("/proc/self/cgroup")).is_file():
        for line in own.read_text(encoding="utf-8").splitlines():
            _, kind, name = line.split(":", 2)
            if kind == "memory":  # version 1
                limits += _stated(_GROUPS / "memory" / name.lstrip("/") / "memory.limit_in_bytes")
            elif kind == "":
                limits += _stated(_GROUPS / name.lstrip("/") / "memory.max")
    return min(limits) / 1e9


def _stated(file: Path) -> list[int]:
    words = file.read_text(encoding="utf-8").strip() if file.is_file() else "max"
    return [] if words == "max" else [int(words)]
