"""The service on a socket of this process, as clients see it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn

from mrac.http import Limits, Offer
from mrac.listening import listening
from mrac.serve import Settings, create_app
from mrac.serve.app import Service
from mrac.serve.server import configured
from tests.mrac.http.frames import H, W

LIMITS = Limits(body_bytes=200_000, pixels=H * W, anchors=100, seconds=20.0)
SETTINGS = Settings(offer=Offer(method="nearest"), limits=LIMITS, workers=2, waiting=4)


@dataclass
class Running:
    client: httpx.Client
    service: Service
    port: int

    def post(self, **given: Any) -> httpx.Response:
        return self.client.post("/v1/calibrate", **given)


@contextmanager
def served(settings: Settings = SETTINGS) -> Iterator[Running]:
    """The application under uvicorn in a thread; ready."""
    app = create_app(settings)
    service: Service = app.state.service
    warm = threading.Event()
    warm_up = service.handler.warm_up

    def announced() -> None:
        warm_up()
        warm.set()

    object.__setattr__(service.handler, "warm_up", announced)
    server = uvicorn.Server(configured(app, settings))
    with listening("127.0.0.1", 0, "test") as own:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
        thread.start()
        try:
            assert warm.wait(60)
            port = own.getsockname()[1]
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                while client.get("/ready").status_code != 200:  # the event is set a moment before the service knows
                    pass
                yield Running(client, service, port)
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive()
