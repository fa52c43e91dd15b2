"""A server of the page in this process, and the few calls that its tests make of it."""

import json
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from starlette.testclient import TestClient

from mrac.web.app import Settings, create_app


class Answer(NamedTuple):
    """A result as the browser gets it."""

    summary: dict[str, Any]
    depth_m: NDArray[np.float32]
    sigma_m: NDArray[np.float32]


class Page:
    """The page's side of the conversation."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def example(self, name: str = "room") -> dict[str, Any]:
        answer = self.client.post(f"/api/examples/{name}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def upload(self, content: bytes, name: str = "a.png") -> dict[str, Any]:
        answer = self.client.post("/api/scenes", files={"image": (name, content)})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def result(self, scene: str, **recipe: Any) -> Answer:
        answer = self.client.post(f"/api/scenes/{scene}/results", json=recipe)
        assert answer.status_code == 200, answer.text
        (length,) = struct.unpack_from("<I", answer.content)
        summary = json.loads(answer.content[4 : 4 + length])
        shape = (2, summary["height"], summary["width"])
        depth_m, sigma_m = np.frombuffer(answer.content, "<f4", offset=4 + length).reshape(shape)
        return Answer(summary, depth_m, sigma_m)


@pytest.fixture(scope="session")
def page() -> Iterator[Page]:
    with TestClient(create_app(Settings(warm_up=False)), base_url="http://127.0.0.1:8008") as client:
        yield Page(client)
