"""`mrac fetch`: downloads the published weights of a network that runs without torch."""

import click

from mrac.errors import ContractError
from mrac.foundation._catalog import CATALOG
from mrac.foundation._published_file import FETCHABLE


@click.command(short_help="Download the published weights of a network, once.")
@click.argument("name", metavar="NAME")
def fetch(name: str) -> None:
    """Download the weights of NAME (dav2-small), once, to the folder mrac of the user's cache.

    Shows a progress bar, goes on where it was cut off, compares the checksum. Needs the package huggingface_hub; the
    weights have a licence of their own, which the last line states.

    \b
    Examples:
      mrac fetch dav2-small
      mrac calibrate a.jpg --anchors a.csv --foundation dav2-small --out result
    """
    from mrac.foundation._fetch import fetch as fetch_file  # noqa: PLC0415  (sockets: `--help` need not wait for them)

    if name not in FETCHABLE:
        raise ContractError(f"fetch: {name!r} arrived, {' or '.join(FETCHABLE)} is needed{_other(name)}")
    got = fetch_file(FETCHABLE[name])
    size = got.path.stat().st_size / 1e6
    checked = f"sha256 {got.sha256} as the hub states" if got.sha256 else "no checksum at hand"
    state = "downloaded" if got.downloaded else "already here"
    click.echo(f"{name}: {state}, {size:.1f} MB, {checked}, {CATALOG[name].licence}: {got.path}")


def _other(name: str) -> str:
    """The command of the hub's own client for a network of the catalogue that runs with torch."""
    if name not in CATALOG:
        return ""
    _, _, model = CATALOG[name].spec.partition(":")
    return f'. It runs with torch, and comes with: hf download {model} --include "*.json" --include "*.safetensors"'


COMMAND = fetch
