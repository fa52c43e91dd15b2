"""The service as an ASGI application: calibrate, methods, health, readiness, metrics, and what describes them."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from mrac import registry
from mrac.errors import MracError
from mrac.http import Envelope, NotReadyError, UnauthorizedError, handlers, read_submission
from mrac.http.errors import request_id_of
from mrac.serve import openapi
from mrac.serve.docs_page import docs_page
from mrac.serve.handler import Answer, Handler, Job
from mrac.serve.metrics import CONTENT_TYPE, Measured, Metrics
from mrac.serve.settings import Settings
from mrac.serve.workers import LOG, Place, Workers
from mrac.version import __version__

Step = Callable[[Place, Job, Request], Awaitable[Answer]]
_DOCS_HEADERS: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


@dataclass(eq=False)
class Service:
    """What the routes of one application share.

    Attributes:
        settings: what it was started with.
        handler: what is done with a job.
        workers: the threads.
        metrics: the figures.
        compute: runs a job; by default in one of the threads.
        ready: whether the warm-up is over.
        failure: what made the warm-up fail.
        on_failure: called then, by whoever reports it; None: it is logged.
    """

    settings: Settings
    handler: Handler
    workers: Workers
    metrics: Metrics
    compute: Step
    ready: bool = False
    failure: Exception | None = None
    on_failure: Callable[[], None] | None = None

    def check_token(self, request: Request) -> None:
        """Raises `UnauthorizedError` unless the request has the token, if there is one; in constant time."""
        if not self.settings.token:
            return
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self.settings.token.encode()):
            raise UnauthorizedError

    async def warm_up(self) -> None:
        """Calibrates once, in a thread; the service is ready then."""
        try:
            await asyncio.wrap_future(self.workers.submit(self.handler.warm_up))
        except Exception as error:  # whatever it is, a server that cannot calibrate must not look ready
            self.failure = error
            if self.on_failure is None:
                LOG.error("warm-up failed: %s", error, exc_info=None if isinstance(error, MracError) else error)
            else:
                self.on_failure()
            return
        self.ready = True
        LOG.info("ready")


def create_app(settings: Settings | None = None, compute: Callable[[Handler], Step] | None = None) -> FastAPI:
    """The service's ASGI application, for uvicorn or another server: `mrac serve` runs it.

    Args:
        settings: methods, limits, threads, token; the defaults have no token.
        compute: gives another way to run a job than in a thread, such as in batches.
    """
    settings = settings or Settings()
    handler, workers = Handler(settings), Workers(settings.workers, settings.waiting)
    step = _in_thread(handler) if compute is None else compute(handler)
    service = Service(settings, handler, workers, Metrics(workers), step)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(service.warm_up())
        yield
        service.ready = False
        warming.cancel()
        workers.close()

    app = FastAPI(
        title="mrac",
        version=__version__,
        description=openapi.DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's pages load scripts from another host
        redoc_url=None,
        openapi_url=None,
        exception_handlers=handlers(),
    )
    app.state.service = service
    app.include_router(_routes(service))
    app.include_router(_pages(app))
    app.add_middleware(Measured, metrics=service.metrics)
    app.add_middleware(Envelope, drain_bytes=settings.limits.body_bytes)
    return app


def _in_thread(handler: Handler) -> Step:
    async def step(place: Place, job: Job, request: Request) -> Answer:
        return await place.run(lambda: handler.whole(job), handler.settings.limits.seconds, request)

    return step


def _routes(service: Service) -> APIRouter:
    router = APIRouter()

    @router.post("/v1/calibrate", summary="Calibrate one frame", **openapi.CALIBRATE)
    async def calibrate(request: Request) -> Response:
        service.check_token(request)
        async with service.workers.place() as place:
            submission = await read_submission(request, service.settings.limits)
            job = Job(submission, request.headers.get("accept", "*/*"), request_id_of(request))
            answer = await service.compute(place, job, request)
        service.metrics.scenes.labels(answer.status).inc()
        LOG.info("%s: %s, %s, %d bytes", job.request_id, answer.status, answer.media_type, len(answer.body))
        return Response(answer.body, media_type=answer.media_type, headers={"X-Mrac-Status": answer.status})

    @router.get("/v1/methods", summary="Methods and stages that may be chosen", **openapi.METHODS)
    async def methods(request: Request) -> Response:
        service.check_token(request)
        return JSONResponse(await asyncio.to_thread(offered, service.settings))

    @router.get("/health", summary="Whether the process answers", **openapi.HEALTH)
    async def health() -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    @router.get("/ready", summary="Whether the warm-up is over", **openapi.READY)
    async def ready() -> Response:
        if service.failure is not None:
            raise NotReadyError("the warm-up failed: the server's log says why")
        if not service.ready:
            raise NotReadyError("the server warms up, or stops")
        return JSONResponse({"status": "ready"})

    @router.get("/metrics", summary="Figures for Prometheus", **openapi.METRICS)
    async def metrics(request: Request) -> Response:
        service.check_token(request)
        return Response(service.metrics.text(), media_type=CONTENT_TYPE)

    return router


def _pages(app: FastAPI) -> APIRouter:
    """What describes the service; the schema is made once, when it is first asked for."""
    router = APIRouter(include_in_schema=False)

    def schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = openapi.completed(FastAPI.openapi(app), bool(app.state.service.settings.token))
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]

    @router.get("/openapi.json")
    async def openapi_json() -> Response:
        return JSONResponse(schema())

    @router.get("/docs")
    async def docs() -> Response:
        return HTMLResponse(docs_page(schema()), headers=_DOCS_HEADERS)

    @router.get("/")
    async def root(request: Request) -> Response:
        return RedirectResponse(f"{request.scope.get('root_path', '')}/docs")

    return router


@lru_cache(maxsize=4)  # it reads the first line of every stage's file
def offered(settings: Settings) -> dict[str, Any]:
    """What clients may choose, by name, with one line on each; and the limits."""
    names = {"methods": ("method", settings.offer.methods()), "foundations": ("foundation", settings.offer.foundations)}
    for stage in ("gate", "fit", "head"):
        names[f"{stage}s"] = (stage, tuple(registry.names(stage)))
    limits = settings.limits
    return {
        "default": settings.offer.method,
        **{
            key: [{"name": name, "summary": registry.summary(stage, name)} for name in known]
            for key, (stage, known) in names.items()
        },
        "limits": {
            "body_bytes": limits.body_bytes,
            "pixels": limits.pixels,
            "anchors": limits.anchors,
            "seconds": limits.seconds,
        },
    }
