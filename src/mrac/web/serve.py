"""Runs the page's server until it is stopped: listens, says where, opens a browser if asked."""

import ipaddress
import socket
import threading
import webbrowser
from typing import NamedTuple

import click
import uvicorn

from mrac.errors import ContractError, first_line
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
    names = frozenset(name.lower() for name in (*host_names, *([] if _is_address(address.host) else [address.host])))
    app = create_app(Settings(foundation=foundation, device=device, host_names=names))
    listening = _listen(address)
    port = listening.getsockname()[1]
    shown = f"[{address.host}]" if ":" in address.host else address.host
    url = f"http://{'127.0.0.1' if address.host in ('0.0.0.0', '::') else shown}:{port}/"
    click.echo(f"mrac web: {url}  (Ctrl+C stops it)")
    if not _is_loopback(address.host):
        click.echo("mrac web: whoever reaches this machine can use it: there is no password", err=True)
    if open_browser:
        threading.Timer(0.5, webbrowser.open, (url,)).start()
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])


def _listen(address: Address) -> socket.socket:
    """A socket of our own, so that the port is known and taken before anything is said."""
    try:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address.host, address.port))
        made.listen(128)  # from here on a browser that comes too early waits, and is not refused
    except OSError as error:
        raise ContractError(
            f"web: {address.host}:{address.port} cannot be listened on ({first_line(error)}); choose another --port or "
            "--host, or --port 0 for a free one"
        ) from None
    return made


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host).is_loopback if _is_address(host) else host == "localhost"
