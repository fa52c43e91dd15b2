"""The description is valid OpenAPI, says what is sent, and is readable on a page that asks for nothing from outside."""

import base64
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi.openapi.models import OpenAPI

from mrac.http.frame import FIELDS
from mrac.http.submission import FILES as PARTS
from tests.mrac.http.frames import ROWS, png
from tests.mrac.serve.running import Running


@pytest.fixture
def schema(running: Running) -> dict[str, Any]:
    found: dict[str, Any] = running.client.get("/openapi.json").json()
    return found


def test_the_schema_is_valid(schema: dict[str, Any]) -> None:
    OpenAPI.model_validate(schema)
    assert schema["openapi"].startswith("3.1")
    assert sorted(schema["paths"]) == ["/health", "/metrics", "/ready", "/v1/calibrate", "/v1/methods"]
    names = schema["components"]["schemas"]
    for reference in re.findall(r"'\$ref': '([^']*)'", str(schema)):
        assert reference.removeprefix("#/components/schemas/") in names


def test_every_field_that_is_read_is_described(schema: dict[str, Any]) -> None:
    names = schema["components"]["schemas"]
    for shape in ("CalibrateForm", "CalibrateJson"):
        assert set(names[shape]["properties"]) == {*PARTS, *FIELDS}


def test_answers_and_requests_fit_their_schemas(running: Running, schema: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")

    def check(content: object, name: str) -> None:
        whole = {"$ref": f"#/components/schemas/{name}", "components": schema["components"]}
        jsonschema.Draft202012Validator.check_schema(schema["components"]["schemas"][name])
        jsonschema.Draft202012Validator(whole).validate(content)

    body = {"image": base64.b64encode(png()).decode(), "anchors": [*ROWS, [1, 1, None]]}
    check(body, "CalibrateJson")
    answer = running.post(json=body)
    assert answer.status_code == 200
    check(answer.json(), "Result")
    check(running.post(json={}).json(), "Error")


class Page(HTMLParser):
    """Attributes that could make a browser ask for something, and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action", "srcset")]
        self.ids |= {value or "" for name, value in attrs if name == "id"}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_shows_the_schema_and_asks_for_nothing(running: Running, schema: dict[str, Any]) -> None:
    response = running.client.get("/docs")
    assert response.headers["Content-Type"].startswith("text/html")
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'"
    page = Page()
    page.feed(response.text)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    for address in page.addresses:
        assert address == "openapi.json" or (address.startswith("#") and address[1:] in page.ids), address
    assert "url(" not in response.text
    assert "@import" not in response.text
    assert "prefers-color-scheme:dark" in response.text
    for path in schema["paths"]:
        assert path in page.text
    for name in (*PARTS, *FIELDS):
        assert name in page.text
