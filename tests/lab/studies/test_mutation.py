"""Mutation testing of a toy module: what its tests check dies, what they do not check survives."""

import ast
import signal
import sys
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mrac.lab.studies.mutation.__main__ import Answers, order, score, table
from mrac.lab.studies.mutation.groups import GROUPS, equivalents, paths_of
from mrac.lab.studies.mutation.mutants import Mutant, mutants, mutated, sample
from mrac.lab.studies.mutation.trial import Baseline, Timed, _too_slow, baseline, trial

TOY = '''"""A toy."""
from typing import Final
LIMIT: Final = 3

def clip(value: float, low: float = 0.0) -> float:
    """Not less than low, not 3 or more."""
    if value < low:
        raise ValueError(f"{value + 1} is low")
    return min(value, LIMIT)

def unseen(value: float) -> float:
    return value * 2
'''
TESTS = """
import toy

def test_clip():
    assert [toy.clip(v) for v in (0.5, 2.0, 7.0)] == [0.5, 2.0, 3]

def test_that_fails_anyway():
    assert False
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(TESTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "toy.py"


def whats(source: str) -> set[str]:
    return {mutant.what for mutant in mutants(source, "a.py")}


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("a < b", {"a < b -> a <= b"}),
        ("a == b", {"a == b -> a != b"}),
        ("a + b * c", {"a + b * c -> a - b * c", "b * c -> b / c"}),
        ("not a", {"not a -> a"}),
        ("-a", {"-a -> a"}),
        ("a and b", {"a and b -> a or b"}),
        ("[0, 1, 5, True]", {"0 -> 1", "1 -> 0", "5 -> 6", "5 -> -5", "True -> False"}),
        ("b if a else c", {"if a -> if not (a)"}),
        ("a[b:c]", {"b:c -> b + 1:c", "b:c -> b:c - 1"}),
        ("np.argmin(a)", {"np.argmin(...) -> argmax(...) of np.argmin(a)"}),
        ("any(a)", {"any(...) -> all(...) of any(a)"}),
        ("[a for a in b if a]", {"if a -> if not (a)"}),
    ],
)
def test_every_operator(code: str, made: set[str]) -> None:
    source = f"x = {code}\n"
    assert whats(source) == made
    for mutant in mutants(source, "a.py"):
        assert ast.unparse(mutated(source, mutant.number)) != ast.unparse(ast.parse(source))


def test_returns_become_a_default_of_their_type() -> None:
    assert whats("def f() -> float:\n    return x\n") == {"return x -> return 0.0"}
    assert whats("def f() -> bool:\n    return x\n") == {"return x -> return False"}
    assert whats("def f() -> Array:\n    return x\n") == {"return x -> return None"}


@pytest.mark.parametrize(
    "code",
    [
        '"""A line of 3."""', "__all__ = [1]", 'raise ValueError("a" + 1)', "assert a < 3", "a: Literal[3]",
        'f"{a + 1}"',
        "@d(True)\ndef f(a: int | None) -> None: ...", "if TYPE_CHECKING:\n    a = 1", "logging.info(a + 1)",
        "from a import b",
    ],
)  # fmt: skip
def test_what_is_no_behaviour_stays(code: str) -> None:
    assert whats(code) == set()


def test_a_draw_is_of_the_seed_and_survives_edits_elsewhere() -> None:
    before = mutants(TOY, "toy.py")
    after = mutants(TOY.replace("value * 2", "value * 2 + 9"), "toy.py")
    drawn = {mutant.key for mutant in sample(before, 4, 0)}
    assert drawn != {mutant.key for mutant in sample(before, 4, 1)}
    assert drawn == {mutant.key for mutant in sample(before, 4, 0)}
    kept = [mutant for mutant in after if mutant.key in drawn]
    assert len(sample(kept, 4, 0)) == len(kept) >= 3
    assert sample(before, 99, 0) == before


def test_a_toy_module_is_judged(toy: Path) -> None:
    tests = baseline(["test_toy.py"], [Path("toy.py")], 5.0)
    assert [test.id for test in tests.tests] == ["test_toy.py::test_clip"]
    assert tests.left_out["test_toy.py::test_that_fails_anyway"].startswith("failed")
    said = {}
    for mutant in mutants(TOY, "toy.py"):
        said[mutant.what] = trial("toy", toy, mutated(TOY, mutant.number), order(tests, mutant))
    by = ("killed", "test_toy.py::test_clip")
    assert said == {
        "3 -> 4": by,
        "3 -> -3": by,
        "0.0 -> 1.0": by,
        "value < low -> value <= low": ("survived", ""),
        "if value < low -> if not (value < low)": by,
        "return min(value, LIMIT) -> return 0.0": by,
        "min(...) -> max(...) of min(value, LIMIT)": by,
        "return value * 2 -> return 0.0": ("survived", ""),
        "value * 2 -> value / 2": ("survived", ""),
        "2 -> 3": ("survived", ""),
        "2 -> -2": ("survived", ""),
    }
    assert trial("toy", toy, ast.parse(TOY), tests.tests) == ("survived", "")


def test_a_slow_property_leaves_the_tests_after_it_in(toy: Path) -> None:
    slow = """
import toy
from hypothesis import given, strategies as st

@given(st.integers())
def test_a_slow_one(n):
    while True:
        toy.unseen(n)

def test_clip():
    assert toy.clip(0.5) == 0.5
"""
    (toy.parent / "test_toy.py").write_text(slow, encoding="utf-8")
    tests = baseline(["test_toy.py"], [Path("toy.py")], 0.2)
    assert [test.id for test in tests.tests] == ["test_toy.py::test_clip"]
    assert tests.left_out == {"test_toy.py::test_a_slow_one": "too slow"}


def test_an_endless_mutant_is_a_timeout(toy: Path) -> None:
    tests = baseline(["test_toy.py"], [Path("toy.py")], 5.0)
    endless = ast.parse("def clip(value):\n    while True:\n        pass\n")
    assert trial("toy", toy, endless, tests.tests, least_s=1.0)[0] == "timeout"


def test_answers_are_kept_and_equivalents_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers(tmp_path / "mutants.json")
    for what, status in (("a", "killed"), ("b", "survived"), ("c", "timeout"), ("d", "survived")):
        answers.by_key[f"toy.py f: {what}"] = {
            "group": "toys", "file": "toy.py", "line": 1, "place": "f", "what": what, "status": status, "why": "",
            "source": "",
        }  # fmt: skip
    monkeypatch.setattr("mrac.lab.studies.mutation.__main__.equivalents", lambda: {"toy.py f: d": "it is"})
    answers.save()
    again = Answers(tmp_path / "mutants.json")
    assert again.by_key == answers.by_key
    assert again.by_key["toy.py f: d"]["status"] == "equivalent"
    assert again.by_key["toy.py f: d"]["why"] == "it is"
    assert score(list(again.by_key.values())) == 2 / 3
    assert "| **toys** | 4 | 1 | 1 | 1 | 1 | 66.7% |" in table(list(again.by_key.values()))


def test_tests_that_call_the_function_are_asked_fast_ones_first() -> None:
    calls = frozenset({("toy.py", 5)})
    tests = [Timed("a::1", 2.0, calls), Timed("a::2", 1.0, calls), Timed("a::3", 0.0, frozenset())]
    inside, at_import = (Mutant("toy.py", "", "", 6, line, 0) for line in (5, 0))
    assert [t.id for t in order(Baseline(tests, {}), inside)] == ["a::2", "a::1"]
    assert len(order(Baseline(tests, {}), at_import)) == 3


def test_the_groups_and_the_equivalents_are_there() -> None:
    root = Path(__file__).parents[3]
    known = {
        mutant.key
        for group in GROUPS.values()
        for file in group.files(root)
        for mutant in mutants((root / file).read_text(encoding="utf-8"), file)
    }
    for group in GROUPS.values():
        assert group.files(root)
        assert all(paths_of((pattern,), root) for pattern in (*group.tests, *group.more))
    assert not equivalents().keys() - known, "a mutant that is not there any more"


def test_a_slow_test_is_not_stopped_while_a_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, float]] = []
    monkeypatch.setattr(signal, "setitimer", lambda *timer: given.append(timer))
    stop = partial(_too_slow, signal.ITIMER_PROF, 0.6, signal.SIGPROF)

    def called_from(module: str) -> FrameType:
        scope: dict[str, Any] = {"__name__": module, "frame": sys._getframe}
        exec("def inner():\n    return frame()", scope)
        frame: FrameType = scope["inner"]()
        return frame

    stop(called_from("llvmlite.binding.ffi"))
    assert given == [(signal.ITIMER_PROF, 0.6)]
    with pytest.raises(pytest.skip.Exception, match="too slow"):
        stop(called_from("mrac.fit.ols"))
