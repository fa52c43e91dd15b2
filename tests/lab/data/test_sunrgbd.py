from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import ContractError
from mrac.lab.data import datasets_in
from mrac.lab.data.sunrgbd import SunRgbd
from tests.lab.layouts import sunrgbd


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sunrgbd.write(tmp_path)
    return tmp_path


def test_the_official_split_keeps_its_order(folder: Path) -> None:
    dataset = SunRgbd(folder)
    assert [sample.id for sample in dataset] == [sunrgbd.SCENES[i] for i in sunrgbd.TEST]
    assert dataset[0].scene == "realsense/sa"
    assert dataset.expected == 5050
    assert [s.id for s in SunRgbd(folder, without_nyu=True)] == [sunrgbd.SCENES[i] for i in (4, 2)]


def test_every_fifth_needs_no_toolbox(folder: Path) -> None:
    (folder / "SUNRGBDtoolbox").rename(folder / "elsewhere")
    (dataset,) = datasets_in(folder)
    assert (dataset.name, dataset.expected, dataset.seed_name) == ("sunrgbd_stride5", 2067, "sunrgbd")
    assert [sample.id for sample in dataset] == [sunrgbd.SCENES[0], sunrgbd.SCENES[5]]
    with pytest.raises(ContractError, match=r"no SUNRGBDtoolbox/.*allsplit\.mat in .*princeton"):
        len(SunRgbd(folder))


def test_depth_is_turned_back(folder: Path) -> None:
    sample = SunRgbd(folder)[0]
    (path,) = sample.entry.files["truth"].iterdir()
    with Image.open(path) as image:
        stored = np.asarray(image)
    near = (sample.truth_m > 0) & (sample.truth_m < 8.191)
    np.testing.assert_allclose(stored[near] / 8000, sample.truth_m[near], rtol=1e-6)
    wrapped = sample.truth_m > 8.192
    assert wrapped.any()
    assert (stored[wrapped] / 8000 < sample.truth_m[wrapped]).all()
    assert sample.truth_m[sample.scored].max() < 10 < np.nanmax(sample.truth_m)


def test_filled_truth_says_which_pixels_were_measured(folder: Path) -> None:
    raw, filled = SunRgbd(folder)[1], SunRgbd(folder, gt="filled")[1]
    hole = np.isnan(raw.truth_m)
    assert filled.dataset.name == "sunrgbd_filled"
    assert (filled.truth_m[hole] == 2.5).all()
    np.testing.assert_array_equal(filled.measured, ~hole)
    assert len(filled.readings("raw")) == (~hole).sum()


def test_two_pictures_where_one_should_be(folder: Path) -> None:
    sample = SunRgbd(folder)[0]
    (sample.entry.files["image"] / "second.jpg").touch()
    with pytest.raises(ContractError, match="holds 2 pictures"):
        _ = sample.image
