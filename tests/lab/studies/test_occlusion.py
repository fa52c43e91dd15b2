import os
from pathlib import Path

import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.lab.studies.occlusion import FILTERS, Scan, main, scans, score

PACKS = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data"))


def post_scan() -> Scan:
    """A post at 4 m before a wall at 12 m, whose points the lidar sees through every second column of the post."""
    u, v = (a.ravel() for a in np.meshgrid(np.arange(0, 200, 2.0), np.arange(0, 100, 5.0)))
    post = (u >= 100) & (u < 120)
    z = np.where(post & (u % 4 != 0), 4.0, 12.0)
    return Scan(np.stack([u, v], axis=1), z, np.where(post, 4.0, 12.0))


def test_shares_are_counted_by_truth() -> None:
    scan = post_scan()
    everything, nothing = (lambda _, z: z > 0.0), (lambda _, z: z < 0.0)
    assert score(everything, [scan])[:4] == (100.0, 0.0, 0.0, 100.0)
    assert score(nothing, [scan])[:4] == (0.0, 100.0, 100.0, 0.0)
    blind = scan._replace(truth_m=np.where(scan.uv_px[:, 0] < 110, scan.truth_m, 0.0))
    half = score(lambda uv, _: uv[:, 0] < 105, [blind, scan])
    behind = np.array([100, 104, 108, 112, 116])
    assert half.recall == pytest.approx(100 * (2 * (behind < 105).sum()) / ((behind < 110).sum() + behind.size))


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter_finds_points_behind_a_post_and_keeps_an_empty_wall(name: str) -> None:
    scan = post_scan()
    found = score(FILTERS[name], [scan])
    assert found.recall >= 50.0
    assert found.kept >= 85.0
    wall = scan._replace(z_m=np.full_like(scan.z_m, 12.0), truth_m=np.full_like(scan.z_m, 12.0))
    assert FILTERS[name](wall.uv_px, wall.z_m).sum() == 0


def test_the_filter_finds_see_through_points_of_kitti_s_lidar_and_keeps_right_ones() -> None:
    pack = PACKS / "eval"
    if not (pack / "kitti15" / "lidar").is_dir():
        pytest.skip("the data packs are not here")
    found = score(FILTERS["window reaching up, 12 % (used)"], scans(pack))
    assert found.recall >= 70.0
    assert found.kept >= 95.0


def test_a_pack_without_lidar_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_text("set,id,rgb,gt\nnyu,1,a.png,a.png\n")
    with pytest.raises(ContractError, match="no frame of kitti15"):
        main(["--data", str(tmp_path)])
