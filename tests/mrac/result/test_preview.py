import numpy as np
import pytest
from PIL import Image

from mrac import Anchors, ContractError, FitResult, MetricDepth, Verdicts
from mrac.conventions import ImageArray
from mrac.result.preview import preview

FIT = FitResult(1.0, 0.0, np.zeros((2, 2)), 0.1, np.zeros(0, np.bool_))


def result_of(shape: tuple[int, int], reason: list[str]) -> MetricDepth:
    depth_m = np.broadcast_to(np.linspace(1.0, 4.0, shape[1], dtype=np.float32), shape)
    keep = np.array([word == "consistent" for word in reason], np.bool_)
    score = np.zeros(len(reason))
    return MetricDepth(
        depth_m, depth_m / 10, Verdicts(keep, score, score, score, np.array(reason, str)), "ok", FIT, "depth"
    )


def grey(shape: tuple[int, int]) -> ImageArray:
    return np.full((*shape, 3), 128, np.uint8)


def red_at(picture: Image.Image) -> tuple[float, float]:
    """The middle of what is red above the legend: mean u, v."""
    pixels = np.asarray(picture).astype(int)
    v, u = np.nonzero((pixels[..., 0] > 230) & (pixels[..., 1] < 80) & (pixels[..., 2] < 80))
    top = v < v.min() + 40
    return float(u[top].mean()), float(v[top].mean())


def test_photo_depth_and_deviation_are_side_by_side() -> None:
    shape = (300, 400)
    page = preview(result_of(shape, ["consistent"]), Anchors([[9.0, 9.0]], [1.0]), grey(shape))
    assert page.width == pytest.approx(1920, abs=3)  # three columns of whole pixels
    row = np.asarray(page).astype(int)[page.height // 2]
    photo, depth, sigma = row[36:632], row[663:1259], row[1290:1886]
    assert (photo == 128).mean() > 0.9
    assert depth[5].sum() > depth[-5].sum() + 300, "near is bright"
    assert sigma[5].sum() < sigma[-5].sum() - 300, "certain is dark"


def test_a_wide_image_is_stacked() -> None:
    shape = (60, 200)
    page = preview(result_of(shape, ["consistent"]), Anchors([[9.0, 9.0]], [1.0]), grey(shape))
    assert page.width == 1280
    assert page.height > 3 * 1232 * 60 / 200


@pytest.mark.parametrize("shape", [(3000, 4000), (30, 40)])
def test_anchors_are_where_they_belong_at_any_size(shape: tuple[int, int]) -> None:
    uv_px = np.array([[shape[1] * 0.5 - 0.5, shape[0] * 0.25 - 0.5]])
    page = preview(result_of(shape, ["nearer_than_fit"]), Anchors(uv_px, [1.0]), grey(shape))
    u, v = red_at(page)
    photo = np.argwhere((np.asarray(page) == 128).all(axis=2))
    (top, left), (bottom, right) = photo.min(axis=0), photo.max(axis=0)
    assert u == pytest.approx((left + right) / 2, abs=1.5)
    assert v == pytest.approx(top + (bottom - top) * 0.25, abs=1.5)


def test_each_reason_has_an_entry_and_the_page_grows_with_them() -> None:
    shape = (30, 40)
    words = ["consistent", "nearer_than_fit", "farther_than_fit", "outvoted", "repeated_value", "out_of_image"]
    anchors = Anchors([[5.0, 5.0]] * 5 + [[-9.0, 0.0]], [1.0] * 6)
    few = preview(result_of(shape, ["consistent"] * 6), anchors, grey(shape))
    many = preview(result_of(shape, words), anchors, grey(shape))
    assert many.height > few.height
    below = np.asarray(many.crop((0, few.height - 80, 640, many.height))).reshape(-1, 3)
    for colour in ((0x2F, 0x9B, 0xFF), (0xFF, 0xD6, 0x0A), (0xD6, 0x5B, 0xFF), (0xB8, 0xC0, 0xCC)):
        assert (below == colour).all(axis=1).any()


@pytest.mark.parametrize("shape", [(1, 1), (900, 3), (1, 9000), (2, 2)])
def test_odd_sizes_without_anchors_or_photo(shape: tuple[int, int]) -> None:
    page = preview(result_of(shape, []))
    assert page.width * page.height < 1.5e6


def test_inputs_of_another_result_are_refused() -> None:
    result = result_of((30, 40), ["consistent"])
    with pytest.raises(ContractError, match="preview: image"):
        preview(result, image=grey((40, 30)))
    with pytest.raises(ContractError, match="2 anchors arrived for 1 verdicts"):
        preview(result, Anchors([[0.0, 0.0]] * 2, [1.0, 1.0]))
