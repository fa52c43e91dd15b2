from html.parser import HTMLParser
from pathlib import Path

from mrac.lab.bench.report.figures.style import Figure, Saved, new_canvas
from mrac.lab.bench.report.writers.html import page, write_figure, write_table
from tests.lab.bench.report.writers.made_table import AWKWARD, TABLE

VOID = {"meta", "img", "br"}


class Checked(HTMLParser):
    """Fails on a tag that is not closed, and keeps the text, the cells and what the page would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.fetched: list[str | None] = []
        self.rows: list[list[str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.fetched += [v for k, v in values.items() if k == "src" or (k == "href" and v and not v.startswith("#"))]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.rows and self.open and self.open[-1] in ("td", "th", "span"):
            self.rows[-1][-1] += f"{data} "


def test_the_table_with_the_paper_s_number_in_the_same_cell() -> None:
    checked = Checked(page("t", [write_table(TABLE)]))
    cells = [[cell.split() for cell in row] for row in checked.rows]
    assert cells[0] == [["method"], ["NYUv2"], ["KITTI-15"], ["a|b"]]
    assert cells[2] == [
        ["vanilla", "paper,", "VI-Depth"], ["0.347±0.000", "0.347±0.001"], ["missing", "1.490±0.005"], ["failed"]
    ]  # fmt: skip
    assert AWKWARD in checked.text
    assert "Here, and in the paper: NYUv2 6 images (654)" in checked.text
    assert "1 planned cell is missing." in checked.text


def test_a_figure_is_inside_the_page(tmp_path: Path) -> None:
    picture = tmp_path / "f.png"
    picture.write_bytes(b"\x89PNG")
    figure = Figure("f", "A <title>", "what & why", lambda: new_canvas(1, 1))
    checked = Checked(page("t", [write_figure(Saved(figure, (picture,)))]))
    assert [source for source in checked.fetched if source is None or not source.startswith("data:image/png;")] == []
    assert len(checked.fetched) == 1
    assert "A <title>" in checked.text
    assert "what & why" in checked.text
