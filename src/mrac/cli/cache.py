"""`mrac cache info | clear`: location and size of the prediction cache, and how to empty it."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mrac.runtime.cache import PredictionCache


@click.group(name="cache")
def cache_command() -> None:
    """Show or empty the cache of predictions.

    The environment variable MRAC_CACHE names another folder, or `off`; MRAC_CACHE_GIB the most that is kept.

    \b
    Examples:
      mrac cache info
      mrac cache clear
    """


@cache_command.command()
def info() -> None:
    """Say where the cache is, how many predictions it holds and how large they are.

    \b
    Example:
      mrac cache info
    """
    store = _store()
    if store is not None:
        found = store.info()
        click.echo(
            f"{found.folder}: {found.num_files} predictions, {_size(found.num_bytes)} of at most "
            f"{_size(found.max_bytes)} (MRAC_CACHE and MRAC_CACHE_GIB change that)"
        )


@cache_command.command()
def clear() -> None:
    """Delete every prediction in the cache, and nothing else.

    \b
    Example:
      mrac cache clear
    """
    store = _store()
    if store is not None:
        freed = store.info().num_bytes
        click.echo(f"{store.folder}: {store.clear()} predictions deleted, {_size(freed)} freed")


def _store() -> "PredictionCache | None":
    from mrac.runtime.cache import default_store  # noqa: PLC0415  (numpy: `mrac --help` should not wait for it)

    store = default_store()
    if store is None:
        click.echo("The cache is off: MRAC_CACHE=off")
    return store


def _size(num_bytes: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if num_bytes >= size:
            return f"{num_bytes / size:.1f} {unit}"
    return f"{num_bytes} bytes"


COMMAND = cache_command
