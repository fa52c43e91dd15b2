"""Gives every request an id, answers what no handler caught, and lets a refused client finish sending."""

import asyncio
import re
import secrets
from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mrac.http.errors import answer

REQUEST_ID: Final = "X-Request-ID"
_SANE: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")  # nothing that could break a line of a log
_DRAIN_S: Final = 2.0
_SLOW: Final = 408  # whoever sends too slowly has been waited for already


def request_id(headers: Headers) -> str:
    """The client's X-Request-ID where it is short and plain, else a new one."""
    given = headers.get(REQUEST_ID, "")
    return given if _SANE.fullmatch(given) else secrets.token_hex(8)


class Envelope:
    """ASGI middleware: `app.add_middleware(Envelope, drain_bytes=limits.body_bytes)`.

    A request that is refused before its body was read would see its connection reset while it still sends, and not
    the answer; so the rest of such a body is thrown away first, up to `drain_bytes` and two seconds.
    """

    def __init__(self, app: ASGIApp, drain_bytes: int = 0) -> None:
        self.app = app
        self.drain_bytes = drain_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        own = request_id(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = own
        body_left, started = scope["method"] not in ("GET", "HEAD", "OPTIONS"), False

        async def receiving() -> Message:
            nonlocal body_left
            message = await receive()
            body_left = body_left and message["type"] == "http.request" and bool(message.get("more_body"))
            return message

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message)[REQUEST_ID] = own
                if body_left and message["status"] >= 400 and message["status"] != _SLOW:
                    await self._drain(receiving, lambda: body_left)
            await send(message)

        try:
            await self.app(scope, receiving, sending)
        except Exception as error:
            if started:  # too late for another answer: the server closes the connection
                raise
            await answer(error, own)(scope, receiving, sending)

    async def _drain(self, receive: Receive, body_left: Callable[[], bool]) -> None:
        left = self.drain_bytes
        try:
            async with asyncio.timeout(_DRAIN_S):
                while body_left() and left > 0:
                    left -= len((await receive()).get("body", b""))
        except TimeoutError:
            return
