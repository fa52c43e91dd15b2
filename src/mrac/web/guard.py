"""Protection of a local server: which hosts and origins may speak to it, and what its pages may load.

A page of another site that has made its name resolve to this machine (DNS rebinding) sends that name as its host, and
is refused; one that posts to us from elsewhere sends its origin, and is refused too.
"""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mrac.listening import is_address

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_CHANGES: Final = ("POST", "PUT", "PATCH", "DELETE")


def is_trusted(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header is an address, `localhost`, or one of `names`: no name that a stranger can point here."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name in names or name == "localhost" or is_address(name.partition("%")[0])


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # such as a bracket that is not closed
        return ""


class Guard:
    """ASGI middleware: refuses strange hosts and origins, adds the security headers to every answer.

    Args:
        app: what is protected.
        names: of hosts that are trusted beside addresses and `localhost`.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str] = frozenset()) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal:
            await JSONResponse({"error": refusal}, status_code=403)(scope, receive, with_headers)
        else:
            await self.app(scope, receive, with_headers)

    def _refusal(self, method: str, headers: Headers) -> str:
        host = headers.get("host", "")
        if not is_trusted(host, self.names):
            return f"host {host[:100]!r} is not served here; use the address that `mrac web` printed, or --allow-host"
        origin = headers.get("origin")
        if method in _CHANGES and origin is not None and _host_of(origin) != host:
            return f"a page of {origin[:100]!r} may not change anything here"
        return ""
