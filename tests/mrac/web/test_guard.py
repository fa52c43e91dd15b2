import pytest
from starlette.testclient import TestClient

from mrac.web.app import Settings, create_app
from mrac.web.guard import HEADERS, is_trusted
from tests.mrac.web.conftest import Page


@pytest.mark.parametrize(
    "host", ["localhost:8008", "127.0.0.1", "127.0.0.1:80", "[::1]:8008", "192.168.0.7:1", "lab-pc"]
)
def test_addresses_localhost_and_given_names_are_trusted(host: str) -> None:
    assert is_trusted(host, frozenset({"lab-pc"}))


@pytest.mark.parametrize(
    "host", ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::1", "a@b"]
)
def test_a_name_that_a_stranger_can_point_here_is_not(host: str) -> None:
    assert not is_trusted(host, frozenset({"lab-pc"}))


def test_a_request_under_a_strange_name_is_refused_also_for_files() -> None:
    with TestClient(create_app(Settings(warm_up=False)), base_url="http://evil.example") as client:
        for path in ("/", "/static/main.js", "/api/options"):
            answer = client.get(path)
            assert answer.status_code == 403
            assert "evil.example" in answer.json()["error"]


def test_another_site_may_not_post(page: Page) -> None:
    for origin in ("https://evil.example", "null", "http://[", ""):
        refused = page.client.post("/api/examples/room", headers={"origin": origin})
        assert refused.status_code == 403
    own = page.client.post("/api/examples/room", headers={"origin": "http://127.0.0.1:8008"})
    assert own.status_code == 200


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/static/none.js", "/api/options", "/api/none"])
def test_every_answer_has_the_security_headers(page: Page, path: str) -> None:
    answer = page.client.get(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in answer.headers["content-security-policy"]
