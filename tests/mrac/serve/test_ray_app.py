"""The service under Ray Serve: the same answers, from batches."""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest

from mrac import Calibrator
from mrac.errors import ContractError
from mrac.http import Offer
from mrac.listening import listening
from mrac.serve import Settings
from mrac.serve.ray_app import Replicas, app, application
from tests.mrac.http.frames import ANCHORS, IMAGE, ROWS, png
from tests.mrac.serve.running import LIMITS


def test_arguments_of_ray_s_command_are_checked() -> None:
    with pytest.raises(ContractError, match="no argument 'methd'"):
        app({"methd": "mrac"})
    with pytest.raises(ContractError, match="max_batch='x'"):
        app({"max_batch": "x"})


@pytest.mark.lab  # Ray takes ten seconds to start
def test_answers_under_ray_are_the_library_s(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    serve = pytest.importorskip("ray.serve")
    monkeypatch.setenv("RAY_BACKEND_LOG_LEVEL", "fatal")
    settings = Settings(offer=Offer(method="nearest"), limits=LIMITS, workers=2)
    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False, "include_dashboard": False}
    ray.init(address="local", num_cpus=2, **quiet)
    try:
        with listening("127.0.0.1", 0, "test") as free:
            port = free.getsockname()[1]
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        serve.run(application(Replicas(settings=settings, num_cpus=1.0, batch_wait_s=0.05)), route_prefix="/")
        own = Calibrator("nearest")(IMAGE, ANCHORS)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

            def one(i: int) -> httpx.Response:
                image = b"garbage" if i % 3 == 2 else png()
                data = {"anchors": json.dumps(ROWS), "format": "npz"}
                return client.post("/v1/calibrate", files={"image": ("a.png", image)}, data=data)

            with ThreadPoolExecutor(6) as pool:
                answers = list(pool.map(one, range(12)))
            for i, answer in enumerate(answers):
                assert answer.status_code == (415 if i % 3 == 2 else 200), answer.text
                if answer.status_code == 200:
                    with np.load(io.BytesIO(answer.content)) as sent:
                        assert np.array_equal(sent["depth_m"], own.depth_m)
            assert client.get("/health").status_code == 200
            assert "mrac_requests_total" in client.get("/metrics").text
    finally:
        serve.shutdown()
        ray.shutdown()
