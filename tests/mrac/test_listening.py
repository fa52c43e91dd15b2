import socket

import pytest

from mrac.errors import ContractError
from mrac.listening import in_url, is_loopback, listening


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("127.example.org", False),
    ],
)
def test_loopback(host: str, is_own: bool) -> None:
    assert is_loopback(host) is is_own


def test_a_taken_port_and_a_name_that_is_none_are_one_message() -> None:
    with listening("127.0.0.1", 0, "test") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ContractError, match=rf"^test: 127\.0\.0\.1:{port} cannot be listened on \(.*in use"):
            listening("127.0.0.1", port, "test")
    with pytest.raises(ContractError, match=r"^test: a\.\.b:0 cannot be listened on"):
        listening("a..b", 0, "test")


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_all_addresses_are_those_of_both_kinds() -> None:
    with listening("::", 0, "test") as own, socket.create_connection(("127.0.0.1", own.getsockname()[1]), 5):
        assert in_url("::1") == "[::1]"
