import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import ContractError
from mrac.datasets.manifest import read_manifest

PACK = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data")) / "eval"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Image.fromarray(np.zeros((2, 3, 3), np.uint8)).save(tmp_path / "a.png")
    Image.fromarray(np.array([[0, 256, 512]] * 2, np.uint16)).save(tmp_path / "k.png")
    Image.fromarray(np.array([[0, 1, 255]] * 2, np.uint8)).save(tmp_path / "n.png")
    (tmp_path / "manifest.csv").write_text(
        "set,id,rgb,gt,gt_scale,gt_offset,sensor\nkitti15,7,a.png,k.png,0.00390625,0,\nnyu,8,a.png,n.png,0.04,0.5,\n"
    )
    return tmp_path


def test_decodes_both_encodings(folder: Path) -> None:
    kitti, nyu = read_manifest(folder)
    np.testing.assert_allclose(kitti.depth_m("gt")[0], [0, 1, 2])
    np.testing.assert_allclose(nyu.depth_m("gt")[0], [0.02, 0.06, 10.22], rtol=1e-6)
    assert kitti.image().shape == (2, 3, 3)
    assert [f.name for f in read_manifest(folder, "nyu")] == ["nyu/8"]


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    (frame, _) = read_manifest(folder)
    with pytest.raises(ContractError, match="kitti15/7 has no 'sensor'"):
        frame.depth_m("sensor")
    with pytest.raises(ContractError, match=r"no .*nowhere/manifest\.csv"):
        next(read_manifest(tmp_path / "nowhere"))
    (tmp_path / "manifest.csv").write_text("set,id\nnyu,1\n")
    with pytest.raises(ContractError, match="no column 'rgb'"):
        next(read_manifest(tmp_path))


@pytest.mark.skipif(not PACK.is_dir(), reason="the real data pack is not beside this checkout")
def test_the_real_pack() -> None:
    frame = next(read_manifest(PACK, "nyu"))
    depth_m = frame.depth_m("gt")
    assert frame.image().shape[:2] == depth_m.shape == (480, 640)
    assert 0.5 < np.median(depth_m) < 10
