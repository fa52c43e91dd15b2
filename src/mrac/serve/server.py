"""Runs the service under uvicorn until SIGINT or SIGTERM, and says so in one line each."""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from mrac.http import Choices
from mrac.listening import in_url, is_loopback, listening
from mrac.serve.app import Service, create_app
from mrac.serve.settings import Settings
from mrac.serve.workers import LOG


class _Server(uvicorn.Server):
    """uvicorn's server that ends with a line and code 0 where uvicorn would send itself the signal once more."""

    caught: str = ""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See uvicorn."""
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = {kind: signal.signal(kind, self._stop) for kind in kinds}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def _stop(self, number: int, frame: Any) -> None:
        self.caught = signal.Signals(number).name
        self.handle_exit(number, frame)


def run(settings: Settings, host: str, port: int) -> None:
    """Serves until a signal; requests inside are finished first, for as long as the limit allows them.

    Raises:
        ContractError: the address is taken, or the method cannot run.
    """
    if not is_loopback(host) and not settings.token:
        LOG.warning("listening on %s without a token: whoever reaches this port can use it (MRAC_TOKEN sets one)", host)
    settings.offer.calibrator(Choices())  # a name that is not known is known before anything listens
    app = create_app(settings)
    service: Service = app.state.service
    server = _Server(configured(app, settings))

    def stop() -> None:
        server.should_exit = True

    service.on_failure = stop
    with listening(host, port, "serve") as own:
        LOG.info("listening on http://%s:%d, described at /docs", in_url(host), own.getsockname()[1])
        server.run(sockets=[own])
    if service.failure is not None:
        raise service.failure
    LOG.info("stopped by %s", server.caught or "request")


def configured(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """Uvicorn's configuration: one process, our log lines, no header that names the server's software."""
    return uvicorn.Config(
        app,
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(settings.limits.seconds)),
        timeout_keep_alive=30,
        # Idle connections are cheap; what counts is bounded by Settings.waiting.
        limit_concurrency=None,
    )
