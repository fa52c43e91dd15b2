import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from mrac import ContractError, MissingExtra
from mrac.lab.data import datasets_in
from mrac.lab.data.nyuv2 import Nyuv2
from tests.lab.layouts import nyuv2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("nyuv2")
    nyuv2.write(where)
    return where


def test_both_splits_with_their_scenes(folder: Path) -> None:
    assert [(s.id, s.scene) for s in Nyuv2(folder)] == [("0001", "kitchen_0004"), ("0004", "kitchen_0005")]
    assert [s.id for s in Nyuv2(folder, split="train")] == ["0002", "0003"]
    assert Nyuv2(folder).expected == 654


def test_filled_truth_says_which_pixels_were_measured(folder: Path) -> None:
    raw, filled = (one[0] for one in datasets_in(folder))
    assert (raw.dataset.name, filled.dataset.name) == ("nyuv2", "nyuv2_filled")
    assert raw.dataset.seed_name == filled.dataset.seed_name
    hole = np.isnan(raw.truth_m)
    assert 0.1 < hole.mean() < 0.3
    assert (filled.truth_m[hole] == 3.0).all()
    np.testing.assert_array_equal(filled.measured, raw.measured)
    np.testing.assert_array_equal(raw.measured, ~hole)
    readings = filled.readings("raw")
    u, v = readings.uv_px.astype(int).T
    np.testing.assert_array_equal(readings.z_m, raw.truth_m[v, u])
    assert len(readings) == (~hole).sum()
    assert raw.sources == ()


def test_scores_eigen_s_crop_to_ten_metres_or_the_paper_s_eighty(folder: Path) -> None:
    scored = Nyuv2(folder)[0].scored
    assert scored[45:471, 41:601].mean() > 0.7
    assert scored.sum() == scored[45:471, 41:601].sum()
    assert Nyuv2(folder).rules.max_depth_m == 10.0
    assert Nyuv2(folder, max_depth_m=80.0).rules.max_depth_m == 80.0


def test_a_split_of_another_release_is_refused(tmp_path: Path) -> None:
    nyuv2.write(tmp_path)
    savemat(tmp_path / "splits.mat", {"testNdxs": np.array([[1], [5]], np.uint16)})
    with pytest.raises(ContractError, match=r"frames 1 to 5, nyu_depth_v2_labeled\.mat has 4"):
        len(Nyuv2(tmp_path))
    savemat(tmp_path / "splits.mat", {"trainNdxs": np.array([[1]], np.uint16)})
    with pytest.raises(ContractError, match="no array 'testNdxs'"):
        len(Nyuv2(tmp_path))
    (tmp_path / "splits.mat").write_bytes(b"MATLAB 5.0 MAT-file" + b"\1" * 200)
    with pytest.raises(ContractError, match="not a readable MATLAB file"):
        len(Nyuv2(tmp_path))
    nyuv2.write(tmp_path)
    whole = (tmp_path / "nyu_depth_v2_labeled.mat").read_bytes()
    (tmp_path / "nyu_depth_v2_labeled.mat").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ContractError, match="not a readable HDF5 file"):
        len(Nyuv2(tmp_path))


def test_without_h5py_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[lab\]"):
        len(Nyuv2(folder))


def test_options_are_checked(folder: Path) -> None:
    with pytest.raises(ContractError, match="gt = 'inpainted'; one of raw, filled"):
        Nyuv2(folder, gt="inpainted")
    with pytest.raises(ContractError, match="max_depth_m"):
        Nyuv2(folder, max_depth_m=float("nan"))
