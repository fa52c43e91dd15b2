"""The Python lines of docs/web.md are those that the page shows for the photograph at first."""

import re
from pathlib import Path

from mrac.web.choices import Menu
from mrac.web.examples import load_example
from mrac.web.python_lines import python_lines
from mrac.web.recipe import Recipe, readings_of

DOCS = Path(__file__).parents[2] / "docs"


def test_the_lines_of_the_manual_are_those_of_the_page() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "web.md").read_text(encoding="utf-8"), re.DOTALL)
    scene, recipe = load_example("motorcycle"), Recipe(share=0.25)
    readings = readings_of(scene, recipe)
    shown = python_lines(Menu().arguments(recipe), readings.anchors, scene.camera_at(None), camera_is_known=True)
    assert block == shown


def test_its_pictures_are_small() -> None:
    for name in ("web-1280.jpg", "web-390.jpg"):
        assert 20_000 < (DOCS / name).stat().st_size < 300_000
