"""What Prometheus reads: requests by route and status, their duration, calibrations in flight and waiting."""

import time
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mrac.serve.workers import Workers
from mrac.version import __version__

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_BUCKETS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The figures of one application, in a registry of its own: several may live in one process."""

    def __init__(self, workers: Workers) -> None:
        own = self.registry = CollectorRegistry()
        self.requests = Counter("mrac_requests", "Requests answered.", ["route", "status"], registry=own)
        self.seconds = Histogram(
            "mrac_request_duration_seconds",
            "From the first byte to the answer.",
            ["route"],
            buckets=_BUCKETS_S,
            registry=own,
        )
        self.scenes = Counter("mrac_calibrations", "Calibrations by the scene's status.", ["status"], registry=own)
        in_flight = Gauge("mrac_in_flight", "Calibrations that are being computed.", registry=own)
        in_flight.set_function(lambda: workers.running)
        queue = Gauge("mrac_queue", "Requests that are being received or wait for a thread.", registry=own)
        queue.set_function(lambda: max(workers.inside - workers.running, 0))
        Gauge("mrac_workers", "Threads that calibrate.", registry=own).set(workers.num)
        Gauge("mrac_info", "The version, as a label.", ["version"], registry=own).labels(__version__).set(1)

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self.registry)


class Measured:
    """ASGI middleware that counts and times requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            # The route's pattern, never the path that came: each new label is memory for ever.
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.requests.labels(route, str(status)).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - start)
