"""Errors of requests, each with its HTTP status, and their answers: one plain message as JSON."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from mrac.errors import ContractError, MissingExtra, MracError

LOG: Final = logging.getLogger("mrac.http")
INTERNAL: Final = "internal error: the server's log has the details under this request_id"


class RequestError(MracError):
    """A request that is refused.

    Attributes:
        status: of HTTP.
        headers: that the answer has besides.
    """

    status: int = 400

    def __init__(self, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.headers: Mapping[str, str] = headers or {}


class UnauthorizedError(RequestError):
    """The bearer token is missing or wrong."""

    status = 401

    def __init__(self, message: str = "a bearer token is needed: Authorization: Bearer TOKEN") -> None:
        super().__init__(message, {"WWW-Authenticate": "Bearer"})


class SlowBodyError(RequestError):
    """The body did not arrive in time."""

    status = 408


class TooLargeError(RequestError):
    """More bytes, pixels, points or readings than the limits allow."""

    status = 413


class UnsupportedError(RequestError):
    """A content type, an encoding or a file format that is not read."""

    status = 415


class BusyError(RequestError):
    """As many requests as may wait are waiting."""

    status = 429

    def __init__(self, message: str, retry_after_s: int = 1) -> None:
        super().__init__(message, {"Retry-After": str(retry_after_s)})


class NotReadyError(RequestError):
    """The server warms up or stops."""

    status = 503

    def __init__(self, message: str, retry_after_s: int = 5) -> None:
        super().__init__(message, {"Retry-After": str(retry_after_s)})


class TimeUpError(RequestError):
    """The calibration took longer than the limit."""

    status = 504


def request_id_of(request: Request) -> str:
    """The id that `Envelope` gave the request; empty without one."""
    return str(request.scope.get("state", {}).get("request_id", ""))


def answer(error: Exception, request_id: str) -> Response:
    """The answer to an error; one that nobody expected is logged whole, and says nothing of itself to the client."""
    headers: Mapping[str, str] | None = None
    if isinstance(error, RequestError):
        status, message, headers = error.status, str(error), error.headers
    elif isinstance(error, ContractError):
        status, message = 400, str(error)
    elif isinstance(error, MissingExtra):  # of a file format that this server was not installed for
        status, message = 415, str(error)
    elif isinstance(error, HTTPException):
        status, message, headers = error.status_code, str(error.detail), error.headers
    elif isinstance(error, ClientDisconnect):
        status, message = 400, "the connection was closed before the body was complete"
    else:
        LOG.error("request %s failed", request_id, exc_info=error)
        status, message = 500, INTERNAL
    content = {"error": " ".join(message.split()), "request_id": request_id}
    return JSONResponse(content, status, None if headers is None else dict(headers))


async def _handle(request: Request, error: Any) -> Response:
    return answer(error, request_id_of(request))


def handlers() -> dict[Any, Callable[[Request, Any], Coroutine[Any, Any, Response]]]:
    """The exception handlers of an application: `Starlette(..., exception_handlers=handlers())`.

    What nobody expected is not among them: `Envelope` answers it, as Starlette's own handler would raise it again.
    """
    return dict.fromkeys((MracError, HTTPException, ClientDisconnect), _handle)
