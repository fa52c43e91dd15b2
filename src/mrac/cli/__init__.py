"""The command line: `mrac COMMAND`, one module each; `_COMMANDS` lists them.

Commands are imported when they are called, so that `--help` and `list` are fast; those of the laboratory (`bench`,
`data`, `export`, `train`) live in `mrac.lab.cli`. An error is one line, exit code 2; `--debug` shows more.
"""

import importlib
import io
import logging
import os
import signal
import sys
from typing import Final

import click

from mrac.cli.interrupt import end, ended_by_signals
from mrac.cli.printable import printable
from mrac.errors import MracError
from mrac.version import __version__

_COMMANDS: Final = {
    "bag": "mrac.cli.bag",
    "batch": "mrac.cli.batch",
    "bench": "mrac.lab.cli.bench",
    "cache": "mrac.cli.cache",
    "calibrate": "mrac.cli.calibrate",
    "data": "mrac.lab.cli.data",
    "demo": "mrac.cli.demo",
    "export": "mrac.lab.cli.export",
    "fetch": "mrac.cli.fetch",
    "list": "mrac.cli.list",
    "serve": "mrac.cli.serve",
    "train": "mrac.lab.cli.train",
    "view": "mrac.cli.view",
    "warm": "mrac.cli.warm",
    "web": "mrac.cli.web",
}
"""The module of each command; its `COMMAND` is what runs."""


class _Lazy(click.Group):
    """A click group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See click."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See click."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name]).COMMAND
        return command


class _Echo(logging.Handler):
    """Writes log lines to standard error, whatever that is by then."""

    def emit(self, record: logging.LogRecord) -> None:
        """See logging."""
        click.echo(self.format(record), err=True)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mrac")
@click.option("-v", "--verbose", count=True, help="Log what is decided and why; -vv also stages and times.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(verbose: int, debug: bool) -> None:
    """Dense metric depth from one image and a few range readings, some of them wrong.

    \b
    Examples:
      mrac demo --out demo
      mrac calibrate a.jpg --anchors a.csv --out result
      mrac list methods
    """
    log, handler = logging.getLogger("mrac"), _Echo()
    before = log.level
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s" if verbose else "%(message)s"))
    log.addHandler(handler)
    if verbose:
        log.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)

    def restore() -> None:  # other commands may run in this process
        log.removeHandler(handler)
        log.setLevel(before)

    click.get_current_context().call_on_close(restore)


def main() -> None:
    """Entry point: an error of this package or of the command line is one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console without Greek or accents shows "?"
            stream.reconfigure(errors="replace")
    # Before numpy is loaded, which happens with a command. A frame's matrices are small; OpenBLAS shares them out all
    # the same, and its threads spin in wait of more: on two cores, twice the processor time of a calibration.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ended_by_signals():
        try:
            code = _run()
        except KeyboardInterrupt as stopped:
            end((stopped.args or (signal.SIGINT,))[0])
    sys.exit(code)


def _run() -> int:
    """The exit code of the command that the process was started with."""
    debug = "--debug" in sys.argv[1:]
    try:
        # --debug may stand anywhere on the line, before or after the command.
        code = cli.main([word for word in sys.argv[1:] if word != "--debug"], standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.exceptions.Abort as stopped:  # click's name for it
        raise KeyboardInterrupt(*getattr(stopped.__cause__, "args", ())) from None
    except Exception as error:
        if debug:
            raise
        click.echo(f"mrac: {_one_line(error)}", err=True)
        return 2 if isinstance(error, (click.ClickException, MracError, OSError, MemoryError)) else 1
    return code if isinstance(code, int) else 0


def _one_line(error: Exception) -> str:
    return printable(_words_of(error))


def _words_of(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return " ".join(error.format_message().split())
    if isinstance(error, MracError):
        return " ".join(str(error).split())
    if isinstance(error, OSError):
        return f"{error.filename2 or error.filename or 'file'}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "out of memory; a smaller image, fewer readings or fewer --workers need less"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"internal error ({what}); --debug shows where. Please report it."
