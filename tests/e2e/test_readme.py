"""The README's Python example runs as printed."""

import re
from pathlib import Path

import numpy as np

README = Path(__file__).parents[2] / "README.md"


def test_the_example_runs_and_says_what_it_does() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, str(README), "exec"), names)
    out = names["out"]
    assert out.depth_m.shape == (480, 640)  # type: ignore[attr-defined]
    assert np.isfinite(out.sigma_m).all()  # type: ignore[attr-defined]
    assert names["gate"].slope == 2.0  # type: ignore[attr-defined]


def test_every_linked_file_exists() -> None:
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / link).exists(), link
