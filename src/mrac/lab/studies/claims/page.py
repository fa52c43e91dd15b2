"""Tests every claim of the paper on runs of the benchmark and writes the verdicts into docs/reproduction.md.

    python -m mrac.lab.studies.claims RUN... [--page docs/reproduction.md] [--results results]

A RUN is what `mrac bench run --out RUN` left; a cell that is in two of them is taken from the first. A claim that needs
one that is in none is marked "not measured".
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.lab.bench.protocol import protocol_names
from mrac.lab.bench.report.origin import count, origin_line
from mrac.lab.bench.report.results import KEY, Results
from mrac.lab.bench.report.verdict import Verdict, counted
from mrac.lab.studies.claim import Claim, NotRunError, Outcome
from mrac.lab.studies.claims import (
    abstract,
    changes,
    elsewhere,
    gate,
    left_out,
    own,
    real,
    robustness,
    substrate,
    wrapper,
)
from mrac.lab.studies.runs import failed, read_runs, runs_parser

BEGIN: Final = "<!-- claims: from here on written by `python -m mrac.lab.studies.claims` -->"
OURS: Final = "Not in the paper: our own method"
END: Final = "<!-- claims: to here -->"
_COLUMNS: Final = (
    *KEY, "seed", "image", "abs_rel", "gate_precision", "gate_recall", "gate_f1", "num_anchors_given", "num_wrong",
    "num_rejected", "anchors_hash", "time_ms", "failure",
)  # fmt: skip
_HEAD: Final = "| paper, protocol | it says | holds when | here | verdict |\n|---|---|---|---|---|\n"


def all_claims(files: Path) -> dict[str, tuple[Claim, ...]]:
    """By heading, every claim of the page; `files` is a folder of results, for what rows cannot settle."""
    from_files = elsewhere.claims(files)
    in_abstract = tuple(claim for claim in from_files if claim.place.startswith("Abstract"))
    in_wrong = tuple(claim for claim in from_files if claim.place == "Fig. S1")
    in_clean = tuple(claim for claim in from_files if claim not in (*in_abstract, *in_wrong))
    return {
        "The abstract, sentence by sentence": (*abstract.CLAIMS, *wrapper.CLAIMS, *in_abstract),
        "Wrong anchors: Tables I to III, Fig. 3, supplement": (*robustness.CLAIMS, *gate.CLAIMS, *in_wrong),
        "Clean anchors: Tables IV to VII, Fig. 4": (*substrate.CLAIMS, *in_clean),
        "Not in the paper: real outliers, nothing injected": real.QUESTIONS,
        OURS: own.QUESTIONS,
    }


def judged(results: Results, files: Path) -> list[Verdict]:
    """Every claim, tested."""
    return [verdict_on(claim, results, group) for group, claims in all_claims(files).items() for claim in claims]


def verdict_on(claim: Claim, results: Results, group: str) -> Verdict:
    """What is measured, and the verdict; on a question, the answer."""
    try:
        outcome = claim.test(results)
    except NotRunError as error:
        outcome = Outcome(f"no rows: {error}", ())
    verdict = outcome.verdict
    if claim.says.endswith("?"):
        verdict = {"holds": "yes", "does not hold": "no"}.get(verdict, verdict)
    return Verdict(
        group=group, place=claim.place, says=claim.says, holds_when=claim.holds_when, protocol=claim.protocol,
        here=outcome.here, verdict=verdict,
    )  # fmt: skip


def table(verdicts: Iterable[Verdict]) -> str:
    """Markdown, a line per claim."""
    known, lines = set(protocol_names()), []
    for one in verdicts:
        names = one.protocol.split(", ")
        protocol = ", ".join(f"`{name}`" for name in names) if set(names) <= known else one.protocol
        lines.append(f"| {one.place}; {protocol} | {one.says} | {one.holds_when} | {one.here} | **{one.verdict}** |\n")
    return _HEAD + "".join(lines)


def sections(verdicts: Sequence[Verdict], beside: str = "") -> str:
    """What stands between the two markers but for the rows' origin: the counts, then a table per heading.

    Args:
        verdicts: all of them.
        beside: what the section on our own method must be read with.
    """
    groups = {one.group: [other for other in verdicts if other.group == one.group] for one in verdicts}
    shorts = "".join(f"- {group}: {counted(own)}.\n" for group, own in groups.items())
    text = "".join(
        f"## {group}\n\n{table(own)}\n{f'{beside}{chr(10)}' if group == OURS and beside else ''}"
        for group, own in groups.items()
    )
    return f"## In short\n\n{shorts}\n{text}"


def origin(runs: Sequence[Path], results: Results, repeated: int) -> str:
    """Which commits and how many rows the page is made of, each counted once."""
    from mrac.lab.bench.store import read_about  # noqa: PLC0415  (pyarrow: the tests of this file need none)

    return f"## The rows\n\n{origin_line([read_about(run) or {} for run in runs])}\n\n{count(results, repeated)}\n"


def rewritten(page: str, content: str) -> str:
    """The page with other content between its markers.

    Raises:
        ContractError: it has not exactly one of each, in this order.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in after:
        raise ContractError(f"studies/claims: the page needs one line {BEGIN!r} and, after it, one {END!r}")
    return f"{before}{BEGIN}\n\n{content}\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = runs_parser("claims", __doc__)
    parser.add_argument("--page", type=Path, default=Path("docs/reproduction.md"))
    parser.add_argument("--results", type=Path, default=Path("results"), help="with speeds and the loss ablation")
    parser.add_argument("--changes", type=Path, default=Path("CHANGELOG.md"), help="with what changed, and why")
    given = parser.parse_args(arguments)
    runs = list(dict.fromkeys(given.runs))  # the grid comes first, and again among all
    results, repeated = read_runs(runs, _COLUMNS)
    verdicts = judged(results, given.results)
    text = "\n".join(
        (
            sections(verdicts, left_out.section(given.page.parent / "consensus.md")).rstrip() + "\n",
            *(part for part in (changes.section(given.changes),) if part),
            origin(runs, results, repeated),
            f"## Images without a score\n\n{failed(results)}",
        )
    )
    page = rewritten(given.page.read_text(encoding="utf-8"), text)
    write_whole(given.page, lambda file: file.write(page.encode()))
    Console().print(counted(verdicts))
