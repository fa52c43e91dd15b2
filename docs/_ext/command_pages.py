"""Sphinx extension: the reference of the command line, written from click's own commands.

One page for `mrac` and one for each command with its subcommands, as Markdown in `docs/generated/commands/`.
"""

import re
from pathlib import Path

import click
from sphinx.application import Sphinx

from mrac.cli import cli


def setup(app: Sphinx) -> dict[str, bool]:
    """See Sphinx."""
    app.connect("builder-inited", _write_pages)
    return {"parallel_read_safe": True}


def _write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "generated" / "commands"
    folder.mkdir(parents=True, exist_ok=True)
    root = click.Context(cli, info_name="mrac")
    names = sorted(cli.list_commands(root))
    for name in names:
        command = cli.get_command(root, name)
        assert command is not None
        _write(
            folder / f"{name}.md",
            "\n".join(_page(command, click.Context(command, root, info_name=name), 1)),
        )
    table = ["| command | |", "|---|---|"]
    for name in names:
        command = cli.get_command(root, name)
        assert command is not None
        table.append(f"| [`mrac {name}`]({name}.md) | {_cell(command.get_short_help_str(200))} |")
    toc = ["```{toctree}", ":hidden:", "", *names, "```"]
    text = [
        "# Command line",
        "",
        *_description(cli),
        "",
        *table,
        "",
        *_options(cli, root),
        "",
        *toc,
    ]
    _write(folder / "index.md", "\n".join(text))


def _write(path: Path, text: str) -> None:
    """Leaves a page alone that has not changed, so that Sphinx need not read it again."""
    text = f"{text.rstrip()}\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _page(command: click.Command, context: click.Context, level: int) -> list[str]:
    lines = [f"{'#' * level} {context.command_path}", "", *_description(command), ""]
    usage = " ".join(command.collect_usage_pieces(context))
    lines += [
        "```text",
        f"{context.command_path} {usage}",
        "```",
        "",
        *_options(command, context),
        "",
    ]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            lines += _page(below, click.Context(below, context, info_name=name), level + 1)
    return lines


def _description(command: click.Command) -> list[str]:
    r"""Paragraphs of a command's help; those after click's \b are examples, whose lines stay as they are."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", (command.help or "").replace("\r", "").partition("\f")[0].strip()):
        kept, _, text = paragraph.partition("\b\n") if "\b" in paragraph else ("", "", "")
        if "\b" not in paragraph:
            lines += [_escaped(" ".join(paragraph.split())), ""]
            continue
        rows = text.splitlines()
        head = next((row for row in rows if row.strip()), "")
        if head.rstrip().endswith(":"):
            rows = rows[rows.index(head) + 1 :]
            lines += [f"{_escaped(head.strip())}", ""]
        lines += [kept, "```text", *(row.strip() for row in rows), "```", ""]
    return lines


def _options(command: click.Command, context: click.Context) -> list[str]:
    rows = []
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Argument):
            metavar = parameter.make_metavar(context)
            rows.append(f"| `{_cell(metavar)}` | {_cell('' if parameter.required else 'optional')} |")
            continue
        record = parameter.get_help_record(context)
        if record is not None:
            rows.append(f"| `{record[0].replace('|', chr(92) + '|')}` | {_cell(record[1])} |")
    return ["| argument or option | |", "|---|---|", *rows] if rows else []


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split()))


def _escaped(text: str) -> str:
    """Text as Markdown that shows it unchanged; code between backticks stays code."""
    parts = text.split("`")
    shown = [part if i % 2 else re.sub(r"([\\*_\[\]<>|#$])", r"\\\1", part) for i, part in enumerate(parts)]
    return "`".join(part.replace("|", r"\|") if i % 2 else part for i, part in enumerate(shown))
