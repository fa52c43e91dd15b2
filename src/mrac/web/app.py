"""The server of the page: its files at once, its API as soon as the library is loaded.

Numba and scipy take two seconds to import, and a first view needs neither: a thread loads them while the browser
already draws the page, and requests that need them wait for it.
"""

import asyncio
import mimetypes
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from mrac.web.guard import Guard

_T = TypeVar("_T")
STATIC: Final = Path(__file__).parent / "static"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Of a server.

    Attributes:
        foundation: in place of every method's own; None: the method's.
        device: that networks run on.
        host_names: trusted in the Host header, beside addresses and `localhost`.
        warm_up: run the compared methods once in the background at the start, so that the first answer is fast.
    """

    foundation: str | None = None
    device: str = "cpu"
    host_names: frozenset[str] = frozenset()
    warm_up: bool = True


def create_app(settings: Settings | None = None) -> Starlette:
    """The page as an ASGI application."""
    settings = settings or Settings()
    mimetypes.add_type("text/javascript", ".js")  # some systems say text/plain, which a browser does not run
    api = _Loading(settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None, None]:
        api.start()
        yield

    return Starlette(
        routes=[
            Route("/", _index),
            Route("/api/options", api.options),
            Mount("/api", api),
            Mount("/static", _Files(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, names=settings.host_names)],
        lifespan=lifespan,
    )


class _Files(StaticFiles):
    """The page's files, which a browser asks for anew each time: after an update none of them may be an older one."""

    def file_response(self, *given: Any, **options: Any) -> Response:
        response = super().file_response(*given, **options)
        response.headers["cache-control"] = "no-cache"
        return response


async def _index(request: Request) -> Response:
    return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})


class _Loading:
    """The API, loaded by a thread: first what the page offers, which it asks for at once, then all else."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._offered: Future[dict[str, Any]] = Future()
        self._made: Future[ASGIApp] = Future()

    def start(self) -> None:
        # A daemon: compiling kernels for ten seconds must not keep Ctrl+C waiting.
        threading.Thread(target=self._load, name="mrac-web-load", daemon=True).start()

    def _load(self) -> None:
        try:
            from mrac.web.catalogue import offered  # noqa: PLC0415  (see the module's docstring)

            self._offered.set_result(offered(self._settings.foundation))
            from mrac.web.api import create_api  # noqa: PLC0415
            from mrac.web.choices import Menu  # noqa: PLC0415
            from mrac.web.workshop import Workshop  # noqa: PLC0415

            workshop = Workshop(Menu(self._settings.foundation, self._settings.device))
            self._made.set_result(create_api(workshop))
        except BaseException as error:
            for waited in (self._offered, self._made):
                if not waited.done():
                    waited.set_exception(error)
            raise
        if self._settings.warm_up:
            workshop.warm_up()

    async def options(self, request: Request) -> Response:
        """All that the page offers."""
        return JSONResponse(await _result_of(self._offered), headers={"cache-control": "no-store"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = await _result_of(self._made)
        await app(scope, receive, send)


async def _result_of(waited: Future[_T]) -> _T:
    """Waits as one of many: a request that is cancelled must not cancel what the others wait for."""
    return await asyncio.shield(asyncio.wrap_future(waited))
