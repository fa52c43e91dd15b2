"""The manual: built without a warning, and searched in a browser without a request to any other host."""

import re
import runpy
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import mrac
from tests.pages import ROOT

pytestmark = pytest.mark.lab  # a build takes twenty seconds, and the browser more
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
SCRIPTS = sorted([*(ROOT / "docs" / "tutorial").glob("*.py"), *(ROOT / "docs" / "gallery").glob("*.py")])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, since a build writes into docs/generated; the scripts are run by a test of their own."""
    for package in ("sphinx", "pydata_sphinx_theme", "myst_parser", "sphinx_gallery", "sphinx_copybutton"):
        pytest.importorskip(package, reason="the manual needs the extra docs")
    root = tmp_path_factory.mktemp("manual")
    for path in ROOT.iterdir():
        if path.name != "docs" and not path.name.startswith("."):
            (root / path.name).symlink_to(path)
    shutil.copytree(ROOT / "docs", root / "docs", ignore=shutil.ignore_patterns("generated", "__pycache__"))
    options = ["-W", "--keep-going", "-q", "-b", "html", "-D", "plot_gallery=0"]
    command = [sys.executable, "-m", "sphinx", *options, str(root / "docs"), str(root / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return root / "site"


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="the search is tried in a browser: playwright")
    if CHROMIUM is None:
        pytest.skip("the search is tried in a browser: Chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def asked_hosts(page: Any) -> set[str]:
    """Fills up with every host that the page asks, whether or not it answers."""
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname or ""))
    return hosts


def test_every_public_name_and_command_has_its_place(site: Path) -> None:
    for name in set(mrac.__all__) - {"__version__"}:
        assert (site / "generated" / "python" / f"mrac.{name}.html").exists(), name
    text = (site / "generated" / "commands" / "calibrate.html").read_text(encoding="utf-8")
    assert "--nearer-than" in text


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"'](?:https?:)?//[^\"']+[\"']")
    for page in site.rglob("*.html"):
        assert loads.findall(page.read_text(encoding="utf-8")) == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


@pytest.mark.parametrize("how", ["file", "http"])
def test_search_finds_pages_and_asks_no_other_host(how: str, site: Path, server: str, browser: Any) -> None:
    page = browser.new_page()
    hosts = asked_hosts(page)
    page.goto(site.joinpath("index.html").as_uri() if how == "file" else f"{server}/index.html")
    page.keyboard.press("Control+k")
    box = page.locator("input[type=search]:visible").first
    box.fill("kriging")
    box.press("Enter")
    page.wait_for_selector("#search-results ul.search li a")
    found = page.locator("#search-results ul.search li a").all_inner_texts()
    assert any("kriging" in title for title in found), found
    page.locator("#search-results ul.search li a").first.click()
    page.wait_for_selector("article h1")
    assert hosts <= ({""} if how == "file" else {"127.0.0.1"})
    page.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["index", "sensors", "reference", "generated/python/mrac.Calibrator", "results"])
def test_no_page_is_wider_than_the_screen(name: str, width: int, server: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"{server}/{name}.html")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize("script", [pytest.param(script, id=script.stem) for script in SCRIPTS])
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
def test_the_scripts_of_tutorial_and_gallery_run(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("imgviz", reason="the gallery needs the extra docs")
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the gallery needs the extra docs")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert pyplot.get_fignums()
    assert capsys.readouterr().out
    pyplot.close("all")
