from typing import Any

from mrac.lab.bench.report.setting import differences, setting
from tests.lab.bench.report.made import cell, context

RUN: dict[str, Any] = {
    "protocol": {"name": "paper", "families": {"near": {"low": 0.2, "high": 0.6}}},
    "sets": {"nyu": {"images": 435}, "tum": {"images": 47}},
}


def test_a_table_s_foot_says_each_thing_here_and_in_the_paper() -> None:
    rows = [*cell("vanilla", [0.1]), *cell("sml_retrained", [0.1], set="tum")]
    said = differences(context(rows, runs=(RUN,)), ["nyu", "tum"], ["vanilla", "sml_retrained"])
    assert said == (
        "NYUv2 435 images (654 images)",
        "TUM 47 frames (not in it)",
        "no KITTI",
        "no DIODE",
        "no SUN RGB-D",
        "the network in the package, 5.4 M parameters (Depth Anything V2 Large, 335 M parameters)",
        "SML retrained by us on that network (VI-Depth as published, on its own)",
        "heads trained by us on other data (theirs)",
    )


def test_it_speaks_of_what_the_table_shows_alone() -> None:
    rows = [*cell("cfa_ols", [0.1], foundation="dav2-small"), *cell("vanilla", [0.1], set="kitti15")]
    said = differences(context(rows, runs=(RUN,)), ["nyu"], ["cfa_ols"])
    assert said == (
        "NYUv2 435 images (654 images)",
        "foundation dav2-small (Depth Anything V2 Large, 335 M parameters)",
    )


def test_images_are_counted_where_no_run_recorded_them() -> None:
    assert differences(context(cell("cfa_ols", [0.1] * 3, set="mine")), ["mine"], [])[0] == "mine 3 images (not in it)"


def test_the_whole_setting_with_the_parameters_that_the_paper_leaves_out() -> None:
    text = "\n".join(setting(context(cell("vanilla", [0.1]), runs=(RUN,))))
    assert "Eigen crop, to 10 m" in text
    assert "near readings: low 0.2, high 0.6; the paper does not print its own values." in text
    alone = "\n".join(setting(context(cell("vanilla", [0.1]), runs=(RUN,), paper=False)))
    assert "paper" not in alone
