"""A person's story in a real headless Chromium: open, load, click, corrupt, compare, hover, turn, download.

`MRAC_SCREENSHOTS=docs` also writes the pictures of docs/web.md there.
"""

import io
import os
import runpy
import shutil
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from mrac import lognormal
from mrac.io.picture import DEPTH_STOPS, depth_colours, metric_ticks
from tests.e2e.web_server import running_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(find_spec("playwright") is None, reason="needs playwright: pip install playwright"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium in the PATH: apt install chromium"),
]
PATIENCE_MS = 120_000  # a first run compiles kernels, on a machine that others share


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_page() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        yield made
        made.close()


class Visit:
    """One page with what it asked for and complained about."""

    def __init__(self, browser: "Browser", address: str, width: int = 1280, height: int = 800, scheme: Any = "light"):
        self.page: Page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page.set_default_timeout(PATIENCE_MS)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda told: self.complaints.append(told.text) if told.type == "error" else None)
        self.page.goto(address)
        self.page.wait_for_selector("body[data-ready=true]")

    def answered(self) -> None:
        """Waits until all columns are there."""
        self.page.wait_for_selector("body[data-idle=true]")
        self.page.locator("#timing", has_text="answered").wait_for()

    def load(self, name: str = "motorcycle") -> None:
        self.page.click(f"[data-example={name}]")
        self.answered()

    def changed(self, before: str) -> None:
        """Waits until the third column has another result than `before`."""
        self.page.locator(f"#downloads a[href*='{before}']").first.wait_for(state="detached")
        self.answered()

    def state(self, expression: str) -> Any:
        return self.page.evaluate(f"import('/static/state.js').then(({{ state }}) => {expression})")

    def top(self) -> None:
        """Scrolls up, and waits for the frame after, in which a card would be hidden."""
        self.page.evaluate(
            "scrollTo(0, 0), new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def box(self, selector: str) -> "FloatRect":
        found = self.page.locator(selector).bounding_box()
        assert found is not None
        return found

    def result_id(self) -> str:
        return str(self.state("state.results[2].id"))

    def errors(self) -> list[float]:
        return [float(value) for value in self.state("state.results.map((answer) => answer.abs_rel)")]

    def close(self) -> None:
        """Nothing was asked of another machine, nothing went wrong."""
        hosts = {urlsplit(url).hostname for url in self.asked if not url.startswith(("data:", "blob:"))}
        self.page.close()
        assert hosts == {"127.0.0.1"}
        assert not self.complaints


def test_open_load_click_corrupt_compare_hover_turn_download(
    browser: "Browser", address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit = Visit(browser, address)
    visit.page.click("#start")
    visit.answered()
    _click_a_reading(visit)
    _corrupt_and_compare(visit)
    _hover_a_reason(visit)
    _turn_the_cloud(visit)
    with visit.page.expect_download() as coming:
        visit.page.click("text=mrac-result.zip")
    with zipfile.ZipFile(coming.value.path()) as archive:
        archive.extractall(tmp_path)
    names = {"depth.npz", "depth.png", "points.ply", "report.json", "anchors.csv", "image.png", "calibrate.py"}
    assert names <= {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "calibrate.py").read_text().strip() == visit.page.inner_text("#python").strip()
    shown = np.array(visit.state("Array.from(state.results[2].depth)"), np.float32)
    monkeypatch.chdir(tmp_path)
    assert np.array_equal(runpy.run_path("calibrate.py")["out"].depth_m.ravel(), shown)
    visit.close()


def _click_a_reading(visit: Visit) -> None:
    before = visit.result_id()
    visit.page.fill("#typed", "2.35")
    box = visit.box("#panel-photo .view")
    visit.page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    visit.changed(before)
    ((u, _, z_m),) = visit.state("state.recipe.clicked")
    assert z_m == 2.35
    assert abs(u - 0.4 * 741) < 2
    assert visit.page.locator("#clicked li").count() == 1


def _corrupt_and_compare(visit: Visit) -> None:
    """Outliers ruin the fit without a gate, not the default."""
    before = visit.result_id()
    visit.page.locator("#share").focus()
    visit.page.keyboard.press("Home")
    visit.changed(before)
    clean, before = visit.errors(), visit.result_id()
    visit.page.locator("#share").fill("0.4")
    visit.changed(before)
    wrong = visit.errors()
    assert wrong[0] > 1.5 * clean[0]
    assert wrong[2] < 0.6 * wrong[0]
    assert "40 %" in visit.page.inner_text("#share-value")
    assert "/20 caught" in visit.page.inner_text("#panel-2 .facts")


def _hover_a_reason(visit: Visit) -> None:
    """Its reason and probability on a card, and the map's own number in metres."""
    u, v, reason = visit.state(
        "(({ keep, u, v, reason }) => keep.flatMap((kept, k) => (kept || v[k] < 150 ? [] : [[u[k], v[k], reason[k]]])))"
        "(state.results[2].readings)[0]"
    )
    visit.top()
    box = visit.box("#panel-2 .view")
    zoom = box["width"] / 741
    visit.page.mouse.move(box["x"] + (u + 0.5) * zoom, box["y"] + (v + 0.5) * zoom)
    card = visit.page.inner_text("#hovercard")
    assert f"rejected: {reason.replace('_', ' ')}" in card
    assert "P(wrong)" in card
    assert "residual" in card
    depth = visit.state("state.results[2].depth[state.cursor.v * 741 + state.cursor.u]")
    assert visit.page.inner_text("#panel-2 .value").startswith(f"{float(f'{depth:.3g}'):g} m ±")


def _turn_the_cloud(visit: Visit) -> None:
    view = visit.page.locator("#cloud-view")
    view.scroll_into_view_if_needed()
    visit.page.locator("#cloud-view[data-yaw]").wait_for()
    first, yaw = view.screenshot(), view.get_attribute("data-yaw")
    assert np.ptp(np.asarray(Image.open(io.BytesIO(first)).convert("RGB"))) > 100  # points, not an empty ground
    box = visit.box("#cloud-view")
    visit.page.mouse.move(box["x"] + 100, box["y"] + 100)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + 220, box["y"] + 110, steps=3)
    visit.page.mouse.up()
    visit.page.locator(f"#cloud-view:not([data-yaw='{yaw}'])").wait_for()
    assert view.screenshot() != first


def test_by_the_keyboard_alone(browser: "Browser", address: str) -> None:
    visit = Visit(browser, address)
    page = visit.page
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.example") == "motorcycle":
            break
    page.keyboard.press("Enter")
    visit.answered()
    page.locator("#panel-photo .view").focus()
    before = visit.result_id()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    visit.changed(before)
    assert visit.state("state.recipe.clicked") == [[371, 260, 2]]
    page.keyboard.press("Alt+ArrowLeft")
    assert visit.state("state.recipe.clicked") == [[370, 260, 2]]
    page.keyboard.press("n")
    assert "verdict" in page.inner_text("#hovercard")
    assert "Reading of" in page.inner_text("#spoken")
    visit.answered()
    page.keyboard.press("p")  # back to the last one, which was clicked
    page.keyboard.press("Delete")
    assert visit.state("state.recipe.clicked") == []
    page.locator("#cloud-view").focus()
    page.locator("#cloud-view[data-yaw]").wait_for()
    yaw = page.get_attribute("#cloud-view", "data-yaw")
    page.keyboard.press("ArrowRight")
    page.locator(f"#cloud-view:not([data-yaw='{yaw}'])").wait_for()
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input, select, button, a, [tabindex=\"0\"]')].filter((one) => "
        "!(one.labels?.length || one.ariaLabel || one.getAttribute('aria-label') || one.textContent.trim())).map((one) "
        "=> one.outerHTML)"
    )
    assert unnamed == []
    visit.close()


def test_nearer_than_is_the_library_s_probability(browser: "Browser", address: str) -> None:
    visit = Visit(browser, address)
    visit.load("room")
    visit.page.check("input[name=view][value=nearer]", force=True)
    values = visit.page.evaluate(
        """Promise.all([import('/static/state.js'), import('/static/lognormal.js')]).then(([{ state }, m]) => {
          const { depth, sigma } = state.results[2];
          const at = Array.from({ length: 500 }, (_, k) => k * 613);
          const all = (of) => at.map(of);
          return { d: state.nearer, depth: all((i) => depth[i]), sigma: all((i) => sigma[i]),
                   p: all((i) => m.probabilityNearer(depth[i], sigma[i], state.nearer)) };
        })"""
    )
    depth_m, sigma_m = (np.array(values[name], np.float32) for name in ("depth", "sigma"))
    expected = lognormal.probability_nearer(depth_m, sigma_m, values["d"])
    assert np.abs(np.array(values["p"]) - expected).max() < 1e-5
    assert "nearer than" in visit.page.inner_text("#bar-title")
    visit.close()


def test_colours_and_ticks_are_the_library_s(browser: "Browser", address: str) -> None:
    visit = Visit(browser, address)
    limits = [(0.4, 3.2), (2.31, 4.87), (1.0, 80.0), (0.05, 0.06)]
    found = visit.page.evaluate(
        """(limits) => import('/static/colours.js').then(({ metricTicks, paint, ramp }) => limits.map((pair) => {
          const metres = Float32Array.from({ length: 300 }, (_, k) => pair[0] * (pair[1] / pair[0]) ** (k / 250 - 0.1));
          const pixels = new Uint8ClampedArray(1200);
          const { depth_stops } = window.tested;
          paint(pixels, metres, pair, ramp(depth_stops));
          return { ticks: metricTicks(pair).map(([, label]) => label), metres: [...metres], pixels: [...pixels] };
        }))""".replace("window.tested", f"({{ depth_stops: {list(DEPTH_STOPS)} }})"),
        limits,
    )
    for pair, one in zip(limits, found, strict=True):
        assert one["ticks"] == [label for _, label in metric_ticks(pair)]
        expected = depth_colours(np.array(one["metres"])[None], pair)[0].astype(int)
        shown = np.array(one["pixels"]).reshape(-1, 4)
        assert np.abs(shown[:, :3] - expected).max() <= 3  # a value on the border of two of 256 colours
        assert (shown[:, :3] == expected).all(axis=1).mean() > 0.95
        assert (shown[:, 3] == 255).all()
    visit.close()


def test_a_broken_upload_says_so_and_the_page_goes_on(browser: "Browser", address: str) -> None:
    visit = Visit(browser, address)
    page = visit.page
    page.set_input_files("#picture-file", {"name": "a.png", "mimeType": "image/png", "buffer": b"no picture"})
    page.locator(".message.error", has_text="not a picture").wait_for()
    visit.load("room")
    page.click("#from-file summary")
    page.set_input_files("#readings-file", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"x\n1\n"})
    page.locator(".message.error", has_text="no column").wait_for()
    table = b"u,v,z\n" + b"".join(b"%d,%d,2000\n" % (40 * k, 30 * k) for k in range(1, 12))
    before = visit.result_id()
    page.set_input_files("#readings-file", {"name": "a.csv", "mimeType": "text/csv", "buffer": table})
    visit.changed(before)
    page.locator(".message.warning", has_text="units").wait_for()  # 2000 m in a room: the library's own warning
    assert "11 of them" in page.inner_text("#readings-now")
    before = visit.result_id()
    page.click("text=Put it right")
    visit.changed(before)
    assert page.locator(".message.warning", has_text="units").count() == 0
    assert visit.state("state.results[2].readings.z_m[0]") == 2
    # What the server refused is told by the browser as an error of its own; nothing else may be.
    visit.complaints = [one for one in visit.complaints if "Failed to load resource" not in one]
    visit.close()


def test_readings_that_come_late_do_not_go_to_another_picture(browser: "Browser", address: str) -> None:
    visit = Visit(browser, address)
    visit.load("room")
    late: list[Any] = []
    visit.page.route("**/readings", lambda route: late.append(route))  # noqa: PLW0108  (it looks at the function)
    visit.page.click("#from-file summary")
    with visit.page.expect_request("**/readings"):
        visit.page.set_input_files(
            "#readings-file", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"u,v,z\n40,30,2\n"}
        )
    before = visit.result_id()
    visit.page.click("[data-example=street]")
    visit.changed(before)
    with visit.page.expect_response("**/readings"):
        late[0].continue_()
    visit.page.evaluate("fetch('/api/options').then((answer) => answer.json())")  # by then the page has looked at it
    assert visit.state("state.scene.title").startswith("Street")
    visit.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_and_ground_follows_the_system(
    browser: "Browser", address: str, width: int, height: int, scheme: str
) -> None:
    visit = Visit(browser, address, width, height, scheme)
    page = visit.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    visit.load()
    page.click("#from-file summary")
    page.click("#table summary")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground.strip("rgb()").split(","))) > 384) == (scheme == "light")
    page.click("#table summary")
    page.click("#from-file summary")
    folder = os.environ.get("MRAC_SCREENSHOTS")
    if folder and scheme == "light":
        _screenshot(visit, Path(folder) / f"web-{width}.jpg", ["#picture", "#result", "#cloud"] if width < 600 else [])
    visit.close()


def _screenshot(visit: Visit, path: Path, places: list[str]) -> None:
    """A picture for the manual: the view with a reading hovered; of a narrow page several views side by side."""
    before = visit.result_id()
    visit.page.locator("#share").fill("0.3")  # an answer that does not share the machine with the server's warm-up
    visit.changed(before)
    if not places:
        _hover_a_reason(visit)
    views = []
    for place in places or ["body"]:
        visit.page.evaluate(f"document.querySelector('{place}').scrollIntoView()")
        if place == "#cloud":
            visit.page.locator("#cloud-view[data-yaw]").wait_for()
        views.append(Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB"))
    width, height = views[0].size
    whole = Image.new("RGB", (len(views) * (width + 16) - 16, height), "#808080")
    for number, view in enumerate(views):
        whole.paste(view, (number * (width + 16), 0))
    whole.save(path, quality=84, optimize=True)
