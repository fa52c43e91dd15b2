import re

import pytest

from mrac.http.frame import KINDS
from mrac.web.app import STATIC
from tests.mrac.web.conftest import Page

SCRIPTS = sorted(path.name for path in STATIC.glob("*.js"))


def test_every_script_is_loaded_ahead(page: Page) -> None:
    """Else they come one after another, as each is found in the one before."""
    html = page.client.get("/").text
    assert sorted(re.findall(r'rel="modulepreload" href="/static/([^"]+)"', html)) == [
        n for n in SCRIPTS if n != "main.js"
    ]


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_served_as_such_and_import_files_that_exist(page: Page, name: str) -> None:
    answer = page.client.get(f"/static/{name}")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "no-cache"
    for other in re.findall(r'from "\./([^"]+)"', answer.text):
        assert other in SCRIPTS


def test_nothing_is_loaded_from_elsewhere() -> None:
    for path in STATIC.iterdir():
        addresses = set(re.findall(r"(?:https?:)?//[a-z][^\s\"'<>)]*", path.read_text(encoding="utf-8")))
        assert {one for one in addresses if re.match(r"(https?:)?//[\w-]+\.", one)} <= {"http://www.w3.org/2000/svg"}, (
            path
        )


def test_the_page_names_every_kind_of_readings(page: Page) -> None:
    assert list(page.client.get("/api/options").json()["sources"]) == list(KINDS)
