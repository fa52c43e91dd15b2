"""Runs the page's server until it is stopped: listens, says where, opens a browser if asked."""

import threading
import webbrowser
from typing import NamedTuple

import click
import uvicorn

from mrac.listening import in_url, is_address, is_loopback, listening
from mrac.web.app import Settings, create_app


class Address(NamedTuple):
    """Where to listen.

    Attributes:
        host: an address or a name of this machine.
        port: 0 takes a free one.
    """

    host: str
    port: int


def serve(
    address: Address, open_browser: bool, host_names: tuple[str, ...], foundation: str | None, device: str
) -> None:
    """Serves the page until Ctrl+C.

    Args:
        address: where to listen.
        open_browser: open the page.
        host_names: that browsers may use, beside addresses and `localhost`.
        foundation: in place of every method's own; None: the method's.
        device: that networks run on.

    Raises:
        ContractError: the address cannot be listened on, or foundation or device are unknown.
    """
    if foundation is not None:
        from mrac.registry import create  # noqa: PLC0415  (numpy and more, which the first view does without)

        create("foundation", foundation)
    if device != "cpu":
        from mrac.runtime.providers import checked_device  # noqa: PLC0415

        device = checked_device(device, "mrac web")
    names = frozenset(name.lower() for name in (*host_names, *([] if is_address(address.host) else [address.host])))
    app = create_app(Settings(foundation=foundation, device=device, host_names=names))
    own = listening(*address, "web")
    shown = "127.0.0.1" if address.host in ("0.0.0.0", "::") else in_url(address.host)
    url = f"http://{shown}:{own.getsockname()[1]}/"
    click.echo(f"mrac web: {url}  (Ctrl+C stops it)")
    if not is_loopback(address.host):
        click.echo("mrac web: whoever reaches this machine can use it: there is no password", err=True)
    if open_browser:
        threading.Timer(0.5, webbrowser.open, (url,)).start()
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[own])
