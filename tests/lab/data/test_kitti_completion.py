from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.lab.data.kitti_completion import KittiCompletion
from tests.lab.layouts import kitti_completion


def test_all_truth_counts_and_the_scan_is_beside_it(tmp_path: Path) -> None:
    kitti_completion.write(tmp_path)
    sample = KittiCompletion(tmp_path)[1]
    np.testing.assert_array_equal(sample.scored, np.isfinite(sample.truth_m))
    assert sample.truth_m[sample.scored].max() > 80
    readings = sample.readings("velodyne_raw")
    u, v = readings.uv_px.astype(int).T
    np.testing.assert_allclose(readings.z_m, sample.truth_m[v, u] / 2, atol=1 / 256)
    assert KittiCompletion(tmp_path / "depth_selection")[1].id == sample.id


def test_a_name_of_another_kind_is_shown(tmp_path: Path) -> None:
    kitti_completion.write(tmp_path)
    image = KittiCompletion(tmp_path).entries[0].files["image"]
    image.rename(image.with_name("0000000000.png"))
    with pytest.raises(ContractError, match=r"0000000000\.png: <drive>_image_"):
        len(KittiCompletion(tmp_path))
