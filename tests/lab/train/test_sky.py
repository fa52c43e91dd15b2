"""The sky: found in a photograph, carried through views, told to the network."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from mrac import ContractError
from mrac.conventions import FloatArray, ImageArray
from mrac.foundation.embedded import Embedded
from mrac.lab.data.manifest import Frame
from mrac.lab.train.foundation.losses import sky_l1
from mrac.lab.train.foundation.recipe import Weights
from mrac.lab.train.foundation.training import CANONICAL_FOCAL, FoundationTraining
from mrac.lab.train.foundation.validate import validate
from mrac.lab.train.foundation.views import ViewOptions, Views, sample_views
from mrac.lab.train.frames import Frames, load_frames
from mrac.lab.train.sky import find_sky, labelled_sky
from tests.lab.train import tiny


def street() -> tuple[ImageArray, FloatArray]:
    """Bright sky over rows 0–29, a dark road with readings below; a white wall at the right that was measured."""
    image = np.full((80, 120, 3), (180, 200, 230), np.uint8)
    image[30:] = (60, 60, 60)
    image[5:, 100:] = (200, 210, 225)
    z_m = np.zeros((80, 120), np.float32)
    z_m[40::4, ::3] = 12.0
    z_m[8::4, 102::3] = 6.0
    return image, z_m


def test_sky_is_bright_smooth_at_the_top_and_above_every_reading() -> None:
    sky = find_sky(*street())
    assert sky[:26, 5:90].all()
    assert not sky[31:].any()
    assert not sky[8:, 102:].any()


@pytest.mark.parametrize("colour", [(20, 20, 20), (230, 180, 150)])
def test_dark_or_reddish_is_no_sky(colour: tuple[int, int, int]) -> None:
    image, z_m = street()
    image[:30] = colour
    assert not find_sky(image, z_m)[:, :95].any()


def test_what_does_not_reach_the_top_is_no_sky() -> None:
    image, z_m = street()
    image[:3] = 0
    assert not find_sky(image, z_m).any()


def test_the_sky_stays_sky_in_every_view() -> None:
    frames = tiny.frames(2)
    z_m = frames.z_m.clone()
    z_m[:, :20] = math.inf
    views = sample_views(
        Frames(frames.images, z_m, frames.focal_px, frames.names, frames.scenes),
        torch.ones(2),
        16,
        (64, 96),
        ViewOptions(),
        torch.Generator().manual_seed(0),
    )
    assert views.z_m.isinf().any()
    assert not views.z_m.isnan().any()
    assert views.z_m[views.z_m.isfinite()].max() < 100


def test_only_sky_that_is_too_near_costs() -> None:
    z = torch.tensor([[[math.inf, math.inf, 2.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]]])
    predicted = torch.tensor([[[3.0, 9.0, -5.0, -5.0]], [[-5.0] * 4]])
    torch.testing.assert_close(sky_l1(predicted, z, torch.tensor([5.0, 5.0])), torch.tensor([1.0, 0.0]))


def test_training_pushes_the_sky_away_and_nothing_else_sees_it() -> None:
    training = FoundationTraining(tiny.narrow(weights=Weights(sky=1.0)), [tiny.frames(2)], None)
    z = torch.full((1, 8, 8), 3.0)
    z[:, :4] = math.inf
    predicted = torch.full((1, 8, 8), math.log(3.0), requires_grad=True)
    loss = training.loss(predicted, Views(torch.zeros(1, 3, 8, 8), z, torch.tensor([CANONICAL_FOCAL])))
    loss.backward()  # type: ignore[no-untyped-call]
    assert predicted.grad is not None
    assert loss.item() == pytest.approx(math.log(1.3), rel=1e-4)
    assert (predicted.grad[:, :4] < 0).all()


ONLY_SKY = Weights(shift=0.0, affine=0.0, gradient=0.0, metric=0.0, sky=1.0)


@pytest.mark.parametrize(
    ("farthest_m", "zoom", "least_m"), [(3.0, 1.0, 3.9), (3.0, 2.0, 1.95), (149.0, 1.0, 193.7), (900.0, 2.0, 195.0)]
)
def test_the_sky_is_farther_than_all_that_is_known_up_to_a_limit(
    farthest_m: float, zoom: float, least_m: float
) -> None:
    """In metres of the usual lens; one that is longer shows the same picture from farther away."""
    training = FoundationTraining(tiny.narrow(weights=ONLY_SKY), [tiny.frames(2)], None)
    z = torch.full((1, 8, 8), 1.0)
    z[:, :4] = math.inf
    z[:, 6] = farthest_m
    z[:, 7] = 0.0
    views = Views(torch.zeros(1, 3, 8, 8), z, torch.tensor([zoom * CANONICAL_FOCAL]))
    for nearer, costs in ((1.5, math.log(1.5)), (1.01, math.log(1.01)), (0.99, 0.0)):
        predicted = torch.full((1, 8, 8), math.log(least_m / nearer))
        assert training.loss(predicted, views).item() == pytest.approx(costs, abs=1e-5)


def test_where_nothing_else_is_known_the_sky_may_be_anywhere() -> None:
    training = FoundationTraining(tiny.narrow(), [tiny.frames(2)], None)
    z = torch.zeros(1, 8, 8)
    z[:, :4] = math.inf
    predicted = torch.full((1, 8, 8), -5.0, requires_grad=True)
    loss = training.loss(predicted, Views(torch.zeros(1, 3, 8, 8), z, torch.tensor([CANONICAL_FOCAL])))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0.0
    assert predicted.grad is not None
    assert not predicted.grad.any()


def test_sky_is_not_measured_on() -> None:
    frames = tiny.frames(2)
    training = FoundationTraining(tiny.narrow(), [frames], None)
    z_m = frames.z_m.clone()
    z_m[:, :10] = math.inf
    score = validate(training.averaged, Frames(frames.images, z_m, frames.focal_px, frames.names, frames.scenes))
    assert math.isfinite(score)


SKY, ROAD = 7, 3


def labelled(folder: Path, size: tuple[int, int] = (80, 120), **cells: str) -> Frame:
    """The street with a label of `size` (H, W): rows 0-29 are sky. `cells` are those of its row in the manifest."""
    label = np.full(size, ROAD, np.uint8)
    label[:30] = SKY
    Image.fromarray(label).save(folder / "label.png")
    Image.fromarray(street()[0]).save(folder / "street.png")
    row = {"set": "camvid", "id": "1", "scene": "a", "rgb": "street.png", "label": "label.png", "sky_id": str(SKY)}
    row |= cells
    (folder / "manifest.csv").write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
    return Frame(folder, row)


def test_labelled_sky_is_infinite_its_rim_unknown_and_the_rest_what_the_network_sees(tmp_path: Path) -> None:
    image, _ = street()
    z_m = labelled_sky(labelled(tmp_path), image)
    assert z_m.shape == image.shape[:2]
    assert z_m.dtype == np.float32
    assert np.isposinf(z_m[:27]).all(), "up to the edges of the picture, which are no rim"
    assert not z_m[27:33].any()
    np.testing.assert_allclose(z_m[33:], np.exp(Embedded()(image).values)[33:], rtol=1e-5)


def test_labelled_sky_is_sky_among_the_frames_of_a_pack(tmp_path: Path) -> None:
    labelled(tmp_path)
    (frames,) = load_frames(tmp_path, torch.device("cpu"), 40 * 60, labelled=True)
    assert frames.names == ("camvid/1",)
    assert bool(frames.z_m[0, :13].isinf().all())
    assert bool((frames.z_m[0, 14:20] < 0).all()), "between sky and horizon a bound alone"
    assert bool(frames.z_m[0, 20:].isfinite().all())
    assert float(frames.z_m[0, 20:].min()) > 0
    with pytest.raises(ContractError, match="no row with a depth file"):
        load_frames(tmp_path, torch.device("cpu"), 40 * 60)


@pytest.mark.parametrize("size", [(80, 119), (79, 120), (80, 120, 3)])
def test_a_label_of_another_shape_is_one_line(size: tuple[int, int], tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"the label of camvid/1 is of shape \(.*\); \(80, 120\), the image's"):
        labelled_sky(labelled(tmp_path, size), street()[0])


@pytest.mark.parametrize("sky_id", ["", "blue", "7.5", None])
def test_a_class_of_the_sky_that_is_no_number_is_one_line(sky_id: str | None, tmp_path: Path) -> None:
    frame = labelled(tmp_path)
    if sky_id is None:
        del frame.row["sky_id"]
    else:
        frame.row["sky_id"] = sky_id
    with pytest.raises(ContractError, match=rf"camvid/1 has sky_id = {sky_id!r}; the number .* is needed") as error:
        labelled_sky(frame, street()[0])
    assert "\n" not in str(error.value)


def test_a_label_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"gone\.png: no such file"):
        labelled_sky(labelled(tmp_path, label="gone.png"), street()[0])
