import re
import subprocess
import sys

import pytest

from mrac import registry
from mrac.http.frame import KINDS
from mrac.web import catalogue
from mrac.web.app import STATIC
from mrac.web.choices import Menu
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


def test_the_catalogue_says_what_the_rest_takes() -> None:
    assert tuple(catalogue.SOURCES) == (*KINDS, "colmap")
    assert registry.create("gate", "theil_sen_mad").kappa == catalogue.DEFAULT_KAPPA
    for foundation in (None, "embedded"):
        assert catalogue.method_names(foundation) == Menu(foundation).offer.methods()


def test_the_catalogue_waits_for_no_slow_import() -> None:
    listing = "import mrac.web.catalogue as one, sys\none.offered(None)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"scipy", "numba", "onnxruntime", "skimage"}
