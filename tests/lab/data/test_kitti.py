from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.lab.data.kitti import Kitti
from tests.lab.layouts import kitti


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("kitti")
    kitti.write(where)
    (where / "monodepth2.txt").write_text("".join(f"{kitti.DATE}/{kitti.DRIVE} {int(f)} l\n" for f in kitti.FRAMES))
    return where


def test_frames_without_depth_are_left_out_whichever_list_names_them(folder: Path) -> None:
    ids = [sample.id for sample in Kitti(folder)]
    assert ids == [f"{kitti.DRIVE}_{frame}_image_02" for frame in (kitti.FRAMES[0], kitti.FRAMES[2])]
    assert [sample.id for sample in Kitti(folder, frames="monodepth2.txt")] == ids
    assert [sample.id for sample in Kitti(folder, frames=str(folder / "monodepth2.txt"))] == ids
    assert Kitti(folder).expected == 652
    assert Kitti(folder, frames="monodepth2.txt").expected is None


def test_a_frame_that_the_list_promises_is_not_left_out_silently(tmp_path: Path) -> None:
    kitti.write(tmp_path)
    Kitti(tmp_path).entries[0].files["truth"].unlink()
    dataset = Kitti(tmp_path)
    assert len(dataset) == 2
    with pytest.raises(ContractError, match=r"no data_depth_annotated/val/.*0000000069\.png in .*cvlibs\.net"):
        _ = dataset[0].truth_m


@pytest.mark.parametrize(("crop", "rows"), [("garg", (153, 371)), ("eigen", (124, 342)), ("none", (0, 375))])
def test_crops_and_the_cap(crop: str, rows: tuple[int, int], folder: Path) -> None:
    sample = Kitti(folder, crop=crop)[0]
    inside = np.flatnonzero(sample.scored.any(axis=1))
    assert (inside[0], inside[-1] + 1) == rows
    assert 75 < sample.truth_m[sample.scored].max() < 80
    assert np.nanmax(sample.truth_m) > 80


def test_the_benchmark_crop_cuts_image_truth_and_scan_alike(folder: Path) -> None:
    whole, cut = Kitti(folder)[0], Kitti(folder, kb=True)[0]
    window = (slice(23, 375), slice(13, 1229))
    assert cut.image.shape == (352, 1216, 3)
    np.testing.assert_array_equal(cut.image, whole.image[window])
    np.testing.assert_array_equal(cut.truth_m, whole.truth_m[window])
    readings = cut.readings("velodyne_raw")
    u, v = readings.uv_px.astype(int).T
    np.testing.assert_allclose(readings.z_m, cut.truth_m[v, u] / 2, atol=1 / 256)
    assert np.flatnonzero(cut.scored.any(axis=1))[0] == 143  # Garg's fractions are of the image that is given out


def test_other_homes_of_the_same_files(folder: Path, tmp_path: Path) -> None:
    for name in (kitti.DATE,):
        (tmp_path / name).symlink_to(folder / "raw" / name)
    (tmp_path / "train").symlink_to(folder / "data_depth_annotated" / "val")
    (tmp_path / "test_files.txt").symlink_to(folder / "monodepth2.txt")
    dataset = Kitti(tmp_path)
    assert len(dataset) == 2
    np.testing.assert_array_equal(dataset[1].truth_m, Kitti(folder)[1].truth_m)
    assert dataset[0].sources == ()


def test_a_line_of_another_kind_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("\n0000000069 png\n")
    with pytest.raises(ContractError, match=r"list\.txt: line 2 is '0000000069 png'"):
        len(Kitti(folder, frames=str(tmp_path / "list.txt")))
