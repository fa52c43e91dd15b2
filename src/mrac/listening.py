"""Sockets that the servers of this package listen on; imports nothing slow, since the page starts with it."""

import ipaddress
import socket

from mrac.errors import ContractError


def listening(host: str, port: int, where: str) -> socket.socket:
    """A socket at that address, so that the port is known and taken before anything is said; port 0 takes a free one.

    Args:
        host: an address or a name of this machine; `::` takes IPv4 too.
        port: of it.
        where: whose it is, for messages.

    Raises:
        ContractError: it cannot be used.
    """
    is_all = host == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server(
            (host, port),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET,
            backlog=1024,
            dualstack_ipv6=is_all,
        )
    except (OSError, UnicodeError) as error:  # the latter of a name that no name can be, such as a..b
        what = getattr(error, "strerror", None) or error
        raise ContractError(
            f"{where}: {host}:{port} cannot be listened on ({what}); choose another --port or --host, or --port 0 for "
            "a free one"
        ) from None


def is_address(host: str) -> bool:
    """Whether `host` is an IP address, not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on `host`."""
    return ipaddress.ip_address(host).is_loopback if is_address(host) else host == "localhost"


def in_url(host: str) -> str:
    """`host` as addresses of pages have it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host
