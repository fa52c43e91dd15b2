"""Puts faults into the code, one at a time, and counts which of them the tests notice.

    python -m mrac.lab.studies.mutation --sample 40

Of each module up to `--sample` mutants are drawn and judged by the tests of its group. The answers are written to
mutants.json after each one, and a table of them beside it; the same command goes on where it was stopped. Mutants of a
module that has changed since are judged anew, and with --again those that survived. To be run from the checkout.
"""

import ast
import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import Progress

from mrac.lab.studies.mutation.groups import GROUPS, Group, equivalents, paths_of
from mrac.lab.studies.mutation.mutants import Mutant, mutants, mutated, sample
from mrac.lab.studies.mutation.trial import Baseline, Timed, baseline, is_compiled, module_name, trial

Answer = dict[str, Any]
HEADER: Final = "| module | mutants | equivalent | killed | timeout | survived | score |"


class Answers:
    """The answers so far, in a file that is whole at any time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_key: dict[str, Answer] = {}
        if path.is_file():
            self.by_key = {_key(answer): answer for answer in json.loads(path.read_text(encoding="utf-8"))["mutants"]}

    def save(self) -> None:
        """Writes the file, one mutant to a line."""
        known = equivalents()
        lines = []
        for key, answer in sorted(self.by_key.items(), key=lambda each: (each[1]["file"], each[1]["line"], each[0])):
            reason = known.get(key, "") if answer["status"] in ("survived", "equivalent") else ""
            status = "equivalent" if reason else answer["status"].replace("equivalent", "survived")
            said = {**answer, "status": status, "why": reason or ("" if status == "survived" else answer["why"])}
            self.by_key[key] = said
            lines.append(json.dumps(said, ensure_ascii=False))
        text = '{"mutants": [\n' + ",\n".join(lines) + "\n]}\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".part")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.path)
        self.path.with_name("table.md").write_text(table(list(self.by_key.values())), encoding="utf-8")

    def keep_only(self, file: str, keys: set[str]) -> None:
        """Forgets mutants of a file that are not drawn any more."""
        self.by_key = {key: a for key, a in self.by_key.items() if a["file"] != file or key in keys}


def _key(answer: Answer) -> str:
    return f"{answer['file']} {answer['place']}: {answer['what']}"


def table(answers: list[Answer]) -> str:
    """Markdown: a row for each module, one for each group and one for all."""
    rows: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        for name in (answer["file"].removeprefix("src/mrac/"), f"**{answer['group']}**", "**all**"):
            rows[name].append(answer)
    files, groups = (sorted(name for name in rows if name.startswith("**") == bold) for bold in (False, True))
    lines = [HEADER, "|---" + "|---:" * 6 + "|"]
    for name in (*files, *(g for g in groups if g != "**all**"), "**all**"):
        counts = [sum(a["status"] == s for a in rows[name]) for s in ("equivalent", "killed", "timeout", "survived")]
        cells = " | ".join(map(str, (len(rows[name]), *counts)))
        lines.append(f"| {name} | {cells} | {score(rows[name]):.1%} |")
    return "\n".join(lines) + "\n"


def score(answers: list[Answer]) -> float:
    """Share of the mutants noticed, of those that are not equivalent; 1 where there is none."""
    real = [answer for answer in answers if answer["status"] != "equivalent"]
    return sum(answer["status"] != "survived" for answer in real) / len(real) if real else 1.0


def order(tests: Baseline, mutant: Mutant) -> list[Timed]:
    """The tests that call the mutated function, fast ones first; all of them for what runs at import."""
    called = (mutant.file, mutant.function_line)
    chosen = [t for t in tests.tests if not mutant.function_line or called in t.calls]
    return sorted(chosen, key=lambda t: t.cpu_s)


def judge(name: str, paths: list[str], answers: Answers, drawn: list[Mutant], slow_s: float) -> None:
    """Judges the drawn mutants of a group by the tests in these paths, one after another."""
    files = sorted({mutant.file for mutant in drawn})
    tests = baseline(paths, [Path(file) for file in files], slow_s)
    slow = [test for test, why in tests.left_out.items() if why == "too slow"]
    print(
        f"{name}: {len(drawn)} mutants, {len(tests.tests)} tests; {len(tests.left_out)} left out, {len(slow)} too slow"
    )
    for test, why in tests.left_out.items():
        if why.startswith("failed"):
            print(f"  {test} without a mutant {why}")
    same, fast = ast.parse(Path(files[0]).read_bytes()), sorted(tests.tests, key=lambda t: t.cpu_s)[:40]
    if (answer := trial(module_name(files[0]), Path(files[0]).resolve(), same, fast)) != ("survived", ""):
        raise click.ClickException(f"{name}: the code as it is was {' by '.join(answer)}; a trial cannot be trusted")
    with Progress() as progress:
        for mutant in progress.track(drawn, description=name):
            source = Path(mutant.file).read_text(encoding="utf-8")
            path = Path(mutant.file).resolve()
            tree = mutated(source, mutant.number)
            status, why = trial(module_name(mutant.file), path, tree, order(tests, mutant))
            answers.by_key[mutant.key] = {
                "group": name, "file": mutant.file, "line": mutant.line, "place": mutant.place, "what": mutant.what,
                "status": status, "why": why, "source": _digest(source),
            }  # fmt: skip
            answers.save()


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def to_judge(answers: Answers, group: Group, size: int, seed: int, again: bool) -> list[Mutant]:
    """The drawn mutants of a group that have no answer yet, or one that may have changed."""
    left: list[Mutant] = []
    for file in group.files(Path()):
        source = Path(file).read_text(encoding="utf-8")
        drawn = sample(mutants(source, file), size, seed)
        answers.keep_only(file, {mutant.key for mutant in drawn})
        for mutant in drawn:
            answer = answers.by_key.get(mutant.key)
            if answer is None or answer["source"] != _digest(source) or (again and answer["status"] == "survived"):
                left.append(mutant)
            else:
                answer["line"] = mutant.line
    return left


@click.command(help=__doc__)
@click.option("--sample", "size", default=40, show_default=True, help="Mutants of a module; all where it has fewer.")
@click.option("--seed", default=0, show_default=True, help="Of the draw.")
@click.option("--group", "names", multiple=True, type=click.Choice(list(GROUPS)), help="Not all groups.")
@click.option("--again", is_flag=True, help="Judges survivors again, as after new tests.")
@click.option("--more", is_flag=True, help="By the group's slower tests instead of its own: for survivors.")
@click.option("--slow", default=3.0, show_default=True, help="Processor seconds; longer tests are left out.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/mutation"), show_default=True)
def main(size: int, seed: int, names: tuple[str, ...], again: bool, more: bool, slow: float, out: Path) -> None:
    answers = Answers(out / "mutants.json")
    for name in names or GROUPS:
        drawn = to_judge(answers, GROUPS[name], size, seed, again or more)
        paths = paths_of(GROUPS[name].more if more else GROUPS[name].tests, Path())
        for compiled in (False, True):
            some = [one for one in drawn if is_compiled(Path(one.file).read_text(encoding="utf-8")) == compiled]
            if some and paths:
                judge(name, paths, answers, some, slow)
    answers.save()
    Console(soft_wrap=True).print(table(list(answers.by_key.values())), markup=False)


if __name__ == "__main__":
    main()
