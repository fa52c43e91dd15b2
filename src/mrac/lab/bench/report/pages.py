"""The whole report as one page of Markdown and one of HTML: the answer first, where the rows come from last."""

from collections.abc import Mapping, Sequence
from html import escape

from mrac.lab.bench.report.contents import Section
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.style import Saved
from mrac.lab.bench.report.opening import FIGURE, Opening
from mrac.lab.bench.report.origin import commands, count, machines, origin_line, versions
from mrac.lab.bench.report.setting import setting
from mrac.lab.bench.report.verdict import KINDS, Verdict, counted
from mrac.lab.bench.report.writers import html, markdown

TITLE = "Anchor-outlier benchmark"
_HOLDS = "What holds and what does not"
_CHANGED = "What changed in the results, and why"
_SETTING = "The setting, and the paper's"
_ORIGIN = "Where the rows come from"


def write_markdown(context: Context, opening: Opening, contents: Sequence[Section], saved: Mapping[str, Saved]) -> str:
    """Prose within 80 columns."""
    parts = [f"# {TITLE}"]
    parts += [markdown.wrap(f"> **{markdown.escape(line)}**", "> ") for line in opening.warnings]
    parts += [markdown.wrap(markdown.escape(line)) for line in opening.sentences]
    parts += [markdown.write_table(opening.table).rstrip()] if opening.table else []
    parts += _markdown_figure(saved[FIGURE]) if FIGURE in saved else []
    if opening.verdicts:
        parts += [f"## {_HOLDS}", _items([f"{group}: {counted(own)}." for group, own in _groups(opening).items()])]
        for kind, own in _kinds(opening).items():
            parts += [
                f"### {kind} ({len(own)})",
                _items([f"{one.place}: {one.says} → {one.verdict}; {one.here}" for one in own]),
            ]
    parts += [f"## {_CHANGED}", _items(opening.changes)] if opening.changes else []
    parts.append("Contents:")
    parts.append("\n".join(f"- {section.title}: {_listed(section, saved)}" for section in contents))
    for section in contents:
        parts.append(f"## {section.title}")
        parts += [markdown.write_table(table).rstrip() for table in section.tables]
        for figure in section.figures:
            parts += _markdown_figure(saved[figure.key]) if figure.key in saved and figure.key != FIGURE else []
    parts += [f"## {_SETTING}", _items(setting(context)), f"## {_ORIGIN}"]
    parts += [markdown.wrap(line.replace("**", "")) for line in _origin(context)]
    parts.append("```\n{}\n```".format("\n".join(commands(context.runs))))
    return "\n\n".join(part for part in parts if part) + "\n"


def write_html(context: Context, opening: Opening, contents: Sequence[Section], saved: Mapping[str, Saved]) -> str:
    """One file that needs no other."""
    parts = [f"<h1>{TITLE}</h1>", *(f'<p class="warning">{escape(line)}</p>' for line in opening.warnings)]
    parts += [f'<p class="answer">{escape(line)}</p>' for line in opening.sentences]
    parts += [html.write_table(opening.table)] if opening.table else []
    parts += [html.write_figure(saved[FIGURE])] if FIGURE in saved else []
    if opening.verdicts:
        parts += [f"<h2>{_HOLDS}</h2>", html.write_counts(_groups(opening))]
        parts += [html.write_verdicts(kind, own) for kind, own in _kinds(opening).items()]
    parts += [f"<h2>{_CHANGED}</h2>", html.write_list(opening.changes)] if opening.changes else []
    parts.append("<h2>Contents</h2><nav>")
    for section in contents:
        items = [(table.key, table.title) for table in section.tables]
        items += [(figure.key, figure.title) for figure in section.figures if figure.key in saved]
        links = "".join(f'<li><a href="#{escape(key)}">{escape(title)}</a></li>' for key, title in items)
        parts.append(f"<strong>{escape(section.title)}</strong><ul>{links}</ul>")
    parts.append("</nav>")
    for section in contents:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [html.write_table(table) for table in section.tables]
        shown = [figure for figure in section.figures if figure.key in saved and figure.key != FIGURE]
        parts += [html.write_figure(saved[figure.key]) for figure in shown]
    parts += [f"<h2>{escape(_SETTING)}</h2>", html.write_list(setting(context)), f"<h2>{_ORIGIN}</h2>"]
    parts += [f"<p>{escape(line.replace('**', ''))}</p>" for line in _origin(context)]
    parts.append(f"<pre>{escape(chr(10).join(commands(context.runs)))}</pre>")
    return html.page(TITLE, parts)


def _origin(context: Context) -> list[str]:
    """All that is needed to make the rows again."""
    runs = context.runs
    lines = [origin_line(runs), count(context.results, context.repeated)]
    return [*lines, *machines(runs), *versions(runs), *context.notes, "Commands:"]


def _groups(opening: Opening) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = {}
    for one in opening.verdicts:
        found.setdefault(one.group, []).append(one)
    return found


def _kinds(opening: Opening) -> dict[str, list[Verdict]]:
    found = {title: [one for one in opening.verdicts if one.kind in words] for title, words in KINDS.items()}
    return {title: own for title, own in found.items() if own}


def _items(lines: Sequence[str]) -> str:
    """A list; `code` between backquotes stays code."""
    return "\n".join(markdown.wrap(f"- {markdown.escape(line)}".replace("\\`", "`"), "  ") for line in lines)


def _markdown_figure(saved: Saved) -> list[str]:
    path, figure = saved.paths[0], saved.figure
    picture = f"![{figure.key}]({path.parent.name}/{path.name})"
    return [f"### {markdown.escape(figure.title)}", picture, markdown.wrap(markdown.escape(figure.about))]


def _listed(section: Section, saved: Mapping[str, Saved]) -> str:
    figures = sum(figure.key in saved for figure in section.figures)
    counts = [(len(section.tables), "table"), (figures, "figure")]
    return ", ".join(f"{number} {word}{'s' * (number != 1)}" for number, word in counts if number)
