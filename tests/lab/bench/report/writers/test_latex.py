import re

from mrac.lab.bench.report.table import Entry, Row, Table
from mrac.lab.bench.report.writers.latex import escape, write_table
from tests.lab.bench.report.writers.made_table import TABLE


def test_every_special_character_is_escaped() -> None:
    assert escape("50 % of a_b & c$d#e {f}") == r"50 \% of a\_b \& c\$d\#e \{f\}"
    assert escape("~ ^ \\ < >") == (r"\textasciitilde{} \textasciicircum{} \textbackslash{} \textless{} \textgreater{}")
    assert escape("κ = 2, B′ ± δ₁ – −1 [a]") == r"$\kappa$ = 2, B$'$ $\pm$ $\delta$$_1$ -- $-$1 {[}a{]}"


def test_what_is_written_is_plain_and_balanced() -> None:
    text = write_table(TABLE)
    assert text.isascii()
    plain = re.sub(r"\\[%&_#${}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert "%" not in plain
    assert "#" not in plain
    for environment in ("table", "tabular", "minipage"):
        assert text.count(f"\\begin{{{environment}}}") == text.count(f"\\end{{{environment}}}") == 1


def test_a_wide_table_takes_both_columns_of_a_page() -> None:
    def written(spread: float | None = None) -> str:
        rows = (Row(label="a", entries=(Entry(value=0.1, spread=spread),) * 5),)
        return write_table(Table(key="w", title="w", about="w", corner="", columns=tuple("abcde"), rows=rows))

    assert written().startswith("\\begin{table}")
    text = written(spread=0.01)
    assert text.startswith("\\begin{table*}")
    assert text.rstrip().endswith("\\end{table*}")


def test_every_line_of_the_body_has_the_columns_of_its_head() -> None:
    text = write_table(TABLE)
    body = text.split("\\toprule")[1].split("\\bottomrule")[0]
    lines = [line for line in body.splitlines() if line.endswith("\\\\") and "multicolumn" not in line]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {3}
    assert "\\textbf{0.100}" in text
    assert "\\textit{1.490$\\pm$0.005}" in text
    assert "missing" in text
    assert "\\label{tab:made_table}" in text
    assert "1 planned cell is missing." in text
