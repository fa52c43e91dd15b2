"""What is mutated, which tests judge it, and which mutants are known to change nothing."""

import tomllib
from pathlib import Path
from typing import Final, NamedTuple

EQUIVALENT: Final = Path(__file__).with_name("equivalent.toml")


class Group(NamedTuple):
    """Modules that the same tests judge.

    Attributes:
        sources: patterns of their files, from the root of the checkout.
        tests: folders and patterns of files with their own tests.
        more: slower ones, asked about survivors.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    more: tuple[str, ...] = ()

    def files(self, root: Path) -> list[str]:
        """The modules, packages' docstrings left out."""
        paths = {path for pattern in self.sources for path in root.glob(pattern)}
        return sorted(str(path.relative_to(root)) for path in paths if len(path.read_text().splitlines()) > 10)


def paths_of(patterns: tuple[str, ...], root: Path) -> list[str]:
    """The folders and files that exist, from the root of the checkout."""
    return sorted(str(path.relative_to(root)) for pattern in patterns for path in root.glob(pattern))


GROUPS: Final = {
    "robust_line": Group(
        ("src/mrac/robust_line/*.py",),
        ("tests/mrac/robust_line", "tests/mrac/test_options.py"),
        ("tests/mrac/fit/test_references.py", "tests/mrac/fit/test_truncated_l1.py", "tests/mrac/gate/test_ransac.py",
         "tests/mrac/gate/test_theil_sen_mad.py", "tests/mrac/estimators"),
    ),
    "fit": Group(
        ("src/mrac/fit/*.py",), ("tests/mrac/fit", "tests/mrac/test_options.py"), ("tests/contract/test_fit.py",)
    ),
    "outliers": Group(
        ("src/mrac/outliers/*.py",), ("tests/mrac/outliers",), ("tests/contract/test_outlier.py",)
    ),
    "metrics": Group(
        ("src/mrac/metrics.py", "src/mrac/lab/bench/score.py"),
        ("tests/mrac/test_metrics.py", "tests/lab/bench/test_score.py"),
    ),
    "gate": Group(
        ("src/mrac/gate/*.py",),
        ("tests/mrac/gate/test_consensus_learned.py", "tests/mrac/gate/test_[!c]*.py", "tests/mrac/test_options.py"),
        ("tests/contract/test_gate.py",),
    ),
    "gate/consensus": Group(
        ("src/mrac/gate/consensus/[!e]*.py",),
        ("tests/mrac/gate/consensus", "tests/mrac/gate/test_consensus.py", "tests/mrac/test_options.py"),
    ),
    # Without numba, EM of sixty readings takes minutes.
    "gate/consensus/em": Group(("src/mrac/gate/consensus/em.py",), ("tests/mrac/gate/consensus/test_model.py",)),
    "gp": Group(("src/mrac/gp/*.py",), ("tests/mrac/gp",), ("tests/mrac/fit/test_evidence.py", "tests/mrac/head")),
}  # fmt: skip


def equivalents() -> dict[str, str]:
    """Key of each mutant that no test can notice, to the reason; see `equivalent.toml`."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"] if EQUIVALENT.is_file() else []
    return {key: str(entry["reason"]) for entry in entries for key in entry["mutants"]}
