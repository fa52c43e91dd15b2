"""Tests every claim of the paper on runs of the benchmark and writes the verdicts into docs/reproduction.md.

    python -m mrac.lab.studies.claims RUN... [--page docs/reproduction.md] [--results results]

A RUN is what `mrac bench run --out RUN` left; a cell that is in two of them is taken from the first. A claim that needs
one which is in none is marked "not run".
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.lab.bench.protocol import protocol_names
from mrac.lab.bench.report.results import KEY, Results
from mrac.lab.studies.claim import Claim, NotRunError
from mrac.lab.studies.claims import abstract, elsewhere, own, real, robustness, substrate
from mrac.lab.studies.runs import failed, read_runs, runs_parser

BEGIN: Final = "<!-- claims: from here on written by `python -m mrac.lab.studies.claims` -->"
END: Final = "<!-- claims: to here -->"
_COLUMNS: Final = (
    *KEY, "seed", "image", "abs_rel", "gate_precision", "gate_recall", "gate_f1", "num_anchors_given", "num_wrong",
    "num_rejected", "anchors_hash", "time_ms", "failure",
)  # fmt: skip
_HEAD: Final = "| paper, protocol | it says | holds when | here | verdict |\n|---|---|---|---|---|\n"


def tested(claim: Claim, results: Results) -> tuple[str, str]:
    """What is measured, and the verdict; on a question, the answer."""
    try:
        outcome = claim.test(results)
    except NotRunError:
        return "–", "**not run**"
    verdict = outcome.verdict
    if claim.says.endswith("?"):
        verdict = {"holds": "yes", "does not hold": "no"}.get(verdict, verdict)
    return outcome.here, f"**{verdict}**"


def table(claims: Iterable[Claim], results: Results) -> str:
    """Markdown, a line per claim."""
    known, lines = set(protocol_names()), []
    for claim in claims:
        here, verdict = tested(claim, results)
        names = claim.protocol.split(", ")
        protocol = ", ".join(f"`{name}`" for name in names) if set(names) <= known else claim.protocol
        lines.append(f"| {claim.place}; {protocol} | {claim.says} | {claim.holds_when} | {here} | {verdict} |\n")
    return _HEAD + "".join(lines)


def sections(results: Results, files: Path) -> str:
    """All that stands between the two markers."""
    from_files = elsewhere.claims(files)
    in_abstract = [claim for claim in from_files if claim.place.startswith("Abstract")]
    in_wrong = [claim for claim in from_files if claim.place == "Fig. S1"]
    in_clean = [claim for claim in from_files if claim not in (*in_abstract, *in_wrong)]
    parts = {
        "The abstract, sentence by sentence": [*abstract.CLAIMS, *in_abstract],
        "Wrong anchors: Tables I to III, Fig. 3, supplement": [*robustness.CLAIMS, *in_wrong],
        "Clean anchors: Tables IV to VII, Fig. 4": [*substrate.CLAIMS, *in_clean],
        "Not in the paper: real outliers, nothing injected": real.QUESTIONS,
        "Not in the paper: our own method": own.QUESTIONS,
    }
    text = "".join(f"## {title}\n\n{table(claims, results)}\n" for title, claims in parts.items())
    shorts = "".join(f"- {title}: {counted(text)}.\n" for title, text in zip(parts, text.split("## ")[1:], strict=True))
    return f"## In short\n\n{shorts}\n{text}## Images without a score\n\n{failed(results)}"


def counted(text: str) -> str:
    """How often each verdict stands in a text, those that do."""
    words = ("holds", "yes", "in part", "does not hold", "no", "not run")
    counts = {word: text.count(f"**{word}**" if word != "in part" else f"**{word}") for word in words}
    return ", ".join(f"{word} {count}" for word, count in counts.items() if count)


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
    given = parser.parse_args(arguments)
    text = sections(read_runs(given.runs, _COLUMNS)[0], given.results)
    page = rewritten(given.page.read_text(encoding="utf-8"), text)
    write_whole(given.page, lambda file: file.write(page.encode()))
    Console().print(counted(text))
