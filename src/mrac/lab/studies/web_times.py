"""How long the page of `mrac web` takes in a real browser: first view after the start, and a change of a slider.

    python -m mrac.lab.studies.web_times --starts 5 --changes 15

A start is a new process each time, with Chromium running already: from the start of the process to the first paint, and
to the moment when examples can be clicked. A change is one step of a slider at 480 × 640 (the example `room`, 50
readings): from the event to the last of three maps drawn; and, in this process, the CPU time of the three calibrations
behind one, which a busy machine does not change. Needs playwright and Chromium; kernels are compiled before.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from mrac.web.catalogue import COLUMNS
from mrac.web.choices import Menu
from mrac.web.recipe import Recipe
from mrac.web.workshop import Workshop

_CHANGES: Final = {"share": (0.1, 0.02), "count": (40, 2), "kappa": (1.5, 0.1)}
"""Sliders, with the first value and the step between changes."""
_PATIENCE_MS: Final = 120_000


@contextmanager
def running_page() -> Iterator[tuple[str, float]]:
    """The address of a page of its own, and when its process was started."""
    started = time.time()
    command = [sys.executable, "-m", "mrac", "web", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            yield found[0], started
        finally:
            server.terminate()


def opened(browser: Any, address: str) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(_PATIENCE_MS)
    page.goto(address)
    return page


def first_view(browser: Any) -> tuple[float, float]:
    """Seconds from the start of a process to the first paint, and until examples are offered."""
    with running_page() as (address, started):
        page = opened(browser, address)
        page.wait_for_selector("body[data-ready=true]")
        ready = time.time() - started
        painted = page.evaluate(
            "(performance.timeOrigin + performance.getEntriesByName('first-contentful-paint')[0].startTime) / 1000"
        )
        page.close()
    return painted - started, ready


def changes(browser: Any, count: int) -> dict[str, list[float]]:
    """Milliseconds of each change, by slider."""
    with running_page() as (address, _):
        page = opened(browser, address)
        page.click("[data-example=room]")
        page.locator("#timing", has_text="answered").wait_for()
        page.wait_for_timeout(3000)  # the warm-up of the server's other methods
        found = {}
        for name, (first, step) in _CHANGES.items():
            found[name] = [_change(page, name, first + k * step) for k in range(count)]
        page.close()
    return found


def _change(page: Any, slider: str, value: float) -> float:
    moved = page.evaluate(
        """async ([id, value]) => {
          const { on, state } = await import("/static/state.js");
          const before = state.results;
          const slider = document.getElementById(id);
          const done = new Promise((resolve) => {
            on(["pending"], () => !state.pending && state.results !== before && requestAnimationFrame(resolve));
          });
          const start = performance.now();
          slider.value = String(value);
          slider.dispatchEvent(new Event("input"));
          await done;
          return performance.now() - start;
        }""",
        [slider, value],
    )
    page.wait_for_timeout(100)
    return float(moved)


def cpu_ms(count: int) -> list[float]:
    """CPU milliseconds, of all threads, of the three calibrations that a change asks for."""
    workshop = Workshop(Menu())
    workshop.warm_up()
    scene = workshop.example("room")
    found = []
    for seed in range(count + 1):
        start = time.process_time()
        for method, _ in COLUMNS:
            workshop.outcome(scene, Recipe(method=method, share=0.25, seed=seed))
        found.append((time.process_time() - start) * 1e3)
    return found[1:]  # the first one runs the network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--changes", type=int, default=15)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (of the extra `dev`)

    table = Table("what", "median", "worst", "n")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        changed = changes(browser, options.changes)
        starts = [first_view(browser) for _ in range(options.starts)]
        browser.close()
    for what, column in (("first paint, s", 0), ("examples offered, s", 1)):
        seconds = [start[column] for start in starts]
        table.add_row(what, f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}", str(len(seconds)))
    for name, values in {**changed, "three calibrations, CPU": cpu_ms(options.changes)}.items():
        table.add_row(f"{name}, ms", f"{statistics.median(values):.0f}", f"{max(values):.0f}", str(len(values)))
    Console().print(table)
    Console().print(f"load average of the last minute: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
