from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.lab.data import datasets_in
from mrac.lab.data.void import Void
from tests.lab.layouts import void


def test_points_are_those_that_the_validity_map_lets_stand(tmp_path: Path) -> None:
    void.write(tmp_path)
    sample = Void(tmp_path)[0]
    readings = sample.readings("sparse_depth")
    u, v = readings.uv_px.astype(int).T
    assert set(v % 7) == set(u % 5) == {0}
    assert u.max() < 30
    np.testing.assert_allclose(readings.z_m, sample.truth_m[v, u] * 0.9, atol=1 / 128)


def test_scores_from_0_2_to_5_m_in_the_order_of_the_list(tmp_path: Path) -> None:
    void.write(tmp_path)
    dataset = Void(tmp_path)
    assert [sample.scene for sample in dataset] == ["stairs4", "desktop2"]
    assert dataset[0].truth_m[dataset[0].scored].max() < 5 < np.nanmax(dataset[0].truth_m)
    assert dataset.rules.min_depth_m == 0.2


@pytest.mark.parametrize("prefix", ["", "data/void_release/void_150/", "./"])
def test_densities_and_the_prefixes_of_all_releases(prefix: str, tmp_path: Path) -> None:
    void.write(tmp_path, 500)
    void.write(tmp_path, 150)
    path = tmp_path / "void_release" / "void_150" / "test_image.txt"
    path.write_text(path.read_text().replace("void_150/data", f"{prefix}data"))
    assert [(one.name, one.seed_name, len(one)) for one in datasets_in(tmp_path)] == [
        ("void_500", "void", 2),
        ("void_150", "void", 2),
    ]
    assert Void(tmp_path / "void_release", density=150)[0].image.shape == (*void.SHAPE, 3)


def test_other_densities_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="density = 200; one of 150, 500, 1500"):
        Void(tmp_path, density=200)
