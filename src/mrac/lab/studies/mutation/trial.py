"""Runs tests in forked processes: once as the code is, and once for each mutant in place of its module.

What the tests import beside the package is loaded once, before the fork; the package itself is imported after it, so
that every `from x import y` sees the mutant. For a module with kernels all kernels run as plain Python, without numba:
nothing is compiled, and the mutant is in all that calls it. For the others they are compiled, and come from the cache.
"""

import ast
import importlib.machinery
import importlib.util
import signal
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Final, NamedTuple

import numba
import pytest

from mrac.lab.studies.mutation.fork import Say, forked, own_modules

_PYTEST: Final = (
    "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:unraisableexception", "--assert=plain",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",  # plug-ins are loaded before the fork
    "-W", "ignore::RuntimeWarning",  # of divisions by 0 and overflows, which compiled kernels do silently
)  # fmt: skip


_TOO_SLOW: Final = "too slow"
_COMPILERS: Final = ("numba.core.", "llvmlite.")
# Of the slowest test, in its own processor time and, for one that waits, in that of the clock.
_TIMERS: Final = ((signal.SIGPROF, signal.ITIMER_PROF, 1.0), (signal.SIGALRM, signal.ITIMER_REAL, 30.0))


class Timed(NamedTuple):
    """One test as it runs on the code as it is.

    Attributes:
        id: pytest's.
        cpu_s: processor time.
        calls: (file, first line) of the functions under test that it calls.
    """

    id: str
    cpu_s: float
    calls: frozenset[tuple[str, int]]


class Baseline(NamedTuple):
    """The tests of a group on the code as it is.

    Attributes:
        tests: that pass, within the time allowed.
        left_out: id to reason, of the others.
    """

    tests: list[Timed]
    left_out: dict[str, str]


class _Substitute(importlib.machinery.SourceFileLoader):
    """Imports one module from a syntax tree instead of its file."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self.tree = tree

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        is_package = Path(self.path).name == "__init__.py"
        places = [str(Path(self.path).parent)] if is_package else None
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=self, submodule_search_locations=places
        )

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = compile(self.tree, self.path, "exec")
        return code


def module_name(file: str) -> str:
    """src/mrac/gate/base.py -> mrac.gate.base."""
    parts = Path(file).with_suffix("").parts
    return ".".join(parts[parts.index("src") + 1 :] if "src" in parts else parts).removesuffix(".__init__")


class _Recorder:
    """pytest plug-in of the baseline: time and calls of each test, and an end to those that take too long."""

    def __init__(self, files: Iterable[Path], slow_s: float, only: Iterable[str]) -> None:
        self.only = set(only)
        self.files = {str(file.resolve()): file for file in files}
        self.slow_s = slow_s
        self.tests: list[tuple[str, float, list[tuple[str, int]]]] = []
        self.left_out: dict[str, str] = {}
        self._calls: set[tuple[str, int]] = set()

    def pytest_sessionstart(self) -> None:
        _settle_hypothesis()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not self.only or item.nodeid in self.only]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._calls, start = set(), time.process_time()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self.tests.append((item.nodeid, time.process_time() - start, sorted(self._calls)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Any:
        for number, timer, seconds in _TIMERS:
            signal.signal(number, partial(_too_slow, timer, seconds * self.slow_s))
            signal.setitimer(timer, seconds * self.slow_s)
        try:
            return (yield)
        finally:
            for _, timer, _ in _TIMERS:
                signal.setitimer(timer, 0.0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            said = str(report.longrepr)
            last = f"{report.outcome}: {said.strip().rpartition(chr(10))[2]}"
            self.left_out.setdefault(report.nodeid, _TOO_SLOW if _TOO_SLOW in said else last)

    def _trace(self, frame: FrameType, event: str, arg: object) -> None:
        file = self.files.get(frame.f_code.co_filename)
        if file is not None:
            self._calls.add((str(file), frame.f_code.co_firstlineno))


def _too_slow(timer: int, seconds: float, number: int, frame: FrameType | None) -> None:
    caller = frame
    while caller is not None:
        # Stopped while it compiles, LLVM keeps its lock: the next kernel waits for ever. The time is not the test's.
        if str(caller.f_globals.get("__name__")).startswith(_COMPILERS):
            signal.setitimer(timer, seconds)
            return
        caller = caller.f_back
    # Skipped, not failed: no `except Exception` stops it, and a report of its traceback in hypothesis ends pytest.
    raise pytest.skip.Exception(_TOO_SLOW)


class _Chosen:
    """pytest plug-in of a trial: runs the chosen tests in their order and says at once which one fails."""

    def __init__(self, ids: Sequence[str], say: Say) -> None:
        self.order = {name: i for i, name in enumerate(ids)}
        self.say = say

    def pytest_sessionstart(self) -> None:
        _settle_hypothesis()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda i: self.order[i.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.say({"killer": report.nodeid})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.say({"killer": f"import of {report.nodeid}"})

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.say({"killer": f"pytest's exit code {int(exitstatus)}" if exitstatus else ""})


def _settle_hypothesis() -> None:
    """The same examples each time, none remembered, none made smaller: a trial ends at the first that fails."""
    from hypothesis import HealthCheck, Phase, settings  # noqa: PLC0415  (here, where it counts as the tests' own)

    settings.register_profile(
        "mutation", settings.default, derandomize=True, database=None, deadline=None,
        phases=(Phase.explicit, Phase.generate), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    settings.load_profile("mutation")


def is_compiled(source: str) -> bool:
    """Whether a module has kernels."""
    return "mrac.runtime.jit" in source


def _compile_kernels(wanted: bool) -> None:
    numba.config.DISABLE_JIT = int(not wanted)  # type: ignore[attr-defined]  # read by each decorator


def baseline(paths: Sequence[str], files: Sequence[Path], slow_s: float) -> Baseline:
    """Runs the tests on the code as it is, and loads into this process what they import beside the package.

    Kernels are as they will be for `files`, which either all have some or none.
    """
    tests, left_out = _measured(paths, files, slow_s, ())
    failed = [name for name, why in left_out.items() if why.startswith("failed")]
    if failed and len(failed) < len(left_out):  # one that is stopped halfway may spoil those after it
        second, left_out_again = _measured(paths, files, slow_s, failed)
        tests = [test for test in tests if test.id not in failed] + second
        left_out = {name: why for name, why in left_out.items() if name not in failed} | left_out_again
    return Baseline([test for test in tests if test.id not in left_out], left_out)


def _measured(
    paths: Sequence[str], files: Sequence[Path], slow_s: float, only: Sequence[str]
) -> tuple[list[Timed], dict[str, str]]:
    def run(say: Say) -> None:
        _compile_kernels(not is_compiled(files[0].read_text(encoding="utf-8")))
        recorder = _Recorder(files, slow_s, only)
        code = pytest.main([*_PYTEST, *paths], plugins=[recorder])
        if code not in (
            pytest.ExitCode.OK,
            pytest.ExitCode.TESTS_FAILED,
        ):  # then tests are missing, and mutants survive
            return
        loaded = set(sys.modules) - {*own_modules(), "__main__"}
        say({"tests": recorder.tests, "left_out": recorder.left_out, "loaded": sorted(loaded)})

    answer = forked(run, wall_s=3600.0)
    if answer is None or "tests" not in answer:
        raise RuntimeError(f"mutation: the tests did not end on the code as it is: {answer or 'no answer'}")
    for name in answer["loaded"]:
        with suppress(Exception):
            if not name.startswith("onnxruntime"):  # it has threads, and the package turns its telemetry off first
                importlib.import_module(name)
    tests = [Timed(name, s, frozenset((f, line) for f, line in calls)) for name, s, calls in answer["tests"]]
    return tests, answer["left_out"]


def trial(name: str, path: Path, tree: ast.Module, tests: Sequence[Timed], least_s: float = 10.0) -> tuple[str, str]:
    """(`killed`, by which test), (`timeout`, "") or (`survived`, "") of one mutant; the tests run in the order given.

    Five times their own processor time and `least_s` are allowed.
    """

    def run(say: Say) -> None:
        _compile_kernels(not is_compiled(path.read_text(encoding="utf-8")))
        sys.meta_path.insert(0, _Substitute(name, str(path), tree))
        paths = dict.fromkeys(test.id.partition("::")[0] for test in tests)
        pytest.main([*_PYTEST, *paths], plugins=[_Chosen([test.id for test in tests], say)])

    if not tests:
        return "survived", ""
    cpu_s = 5.0 * sum(test.cpu_s for test in tests) + least_s
    answer = forked(run, wall_s=10.0 * cpu_s, cpu_s=cpu_s)
    if answer is None:
        return "timeout", ""
    return ("killed", answer["killer"]) if answer["killer"] else ("survived", "")
