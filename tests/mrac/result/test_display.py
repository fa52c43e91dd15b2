import base64
import io
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from mrac import Anchors, Calibrator, MetricDepth, MissingExtra
from mrac.checks.finding import Finding

IMAGE = np.zeros((8, 12, 3), np.uint8)
ANCHORS = Anchors([[1.0, 1.0], [np.nan, 2.0], [5.0, 5.0], [6.0, 2.0]], [1.0, 2.0, 3.0, 2.0])


@pytest.fixture(scope="module")
def result() -> MetricDepth:
    return replace(Calibrator(foundation="none", gate="none")(IMAGE, ANCHORS), warnings=())


def test_repr_is_one_line(result: MetricDepth) -> None:
    near, far = result.depth_m.min(), result.depth_m.max()
    assert repr(result) == f"MetricDepth 8x12, {near:.2f} to {far:.2f} m, 3 of 4 anchors kept, {result.status}"


def test_a_notebook_gets_two_pictures_and_a_table(result: MetricDepth) -> None:
    page = result._repr_html_()
    sources = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert len(sources) == 2
    for source in sources:
        with Image.open(io.BytesIO(base64.b64decode(source))) as picture:
            assert picture.size == (360, 240)
    text = re.sub("<[^>]*>", " ", page)
    assert re.search(rf"status\s+{result.status}", text)
    assert re.search(r"kept\s+3 of 4 anchors: 3 unjudged", text)
    assert re.search(r"rejected\s+1: 1 not_finite", text)


def test_warnings_are_shown_with_their_advice(result: MetricDepth) -> None:
    found = Finding("units", "the median reading is 2310 m", "give --anchors-scale 1000")
    warned = replace(result, warnings=(found,))
    text = re.sub("<[^>]*>", " ", warned._repr_html_())
    assert re.search(r"warning: units\s+the median reading is 2310 m give --anchors-scale 1000", text)
    heights = []
    for each in (result, warned):
        with Image.open(io.BytesIO(each._repr_png_())) as picture:
            heights.append(picture.height)
    assert heights[1] > heights[0]


def test_a_status_cannot_break_the_page(result: MetricDepth) -> None:
    assert "<b>" not in replace(result, status="<b>")._repr_html_()


def test_png_for_a_notebook(result: MetricDepth) -> None:
    with Image.open(io.BytesIO(result._repr_png_())) as picture:
        assert picture.format == "PNG"
        assert picture.width > 600


def test_plot_draws_photo_depth_and_deviation_with_metric_scales(result: MetricDepth) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    ax = result.plot(image=IMAGE, anchors=ANCHORS)
    titles = [each.get_title() for each in ax.figure.axes]
    assert titles[:3] == ["photo with readings", "depth, m", "standard deviation of depth, m"]
    assert ax.get_title() == "depth, m"
    np.testing.assert_array_equal(ax.images[0].get_array(), result.depth_m)
    legend = ax.figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["3 unjudged", "1 not finite"]
    ax.figure.canvas.draw()
    pyplot.close(ax.figure)


def test_plot_into_given_axes_draws_the_depth_alone(result: MetricDepth) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    figure, (left, right) = pyplot.subplots(1, 2)
    assert result.plot(right, anchors=ANCHORS) is right
    assert not left.images
    assert len(right.images) == 1
    assert right.get_xlim() == (-0.5, 11.5)
    pyplot.close(figure)


def test_xarray(result: MetricDepth) -> None:
    pytest.importorskip("xarray")
    data = result.to_xarray()
    np.testing.assert_array_equal(data["depth_m"].sel(v=2, u=3), result.depth_m[2, 3])
    assert data["sigma_m"].attrs["units"] == "m"
    assert data["reason"].values.tolist() == result.anchors.reason.tolist()
    assert data.attrs["status"] == result.status


@pytest.mark.parametrize(("package", "call"), [("matplotlib", "plot"), ("xarray", "to_xarray")])
def test_what_is_not_installed_is_named(
    result: MetricDepth, package: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{call}: .*mrac-depth\[view\]"):
        getattr(result, call)()
