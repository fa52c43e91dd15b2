import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from mrac.lab.data.manifest import Frame
from mrac.lab.studies.protocol import draw_anchors, summary, write_results


def test_one_image_has_a_mean_and_no_spread(tmp_path: Path) -> None:
    write_results(tmp_path / "run.json", sets={"nyu": summary([0.25])})
    assert json.loads((tmp_path / "run.json").read_text())["sets"]["nyu"] == {"abs_rel": 0.25, "images": 1}


def test_the_spread_is_of_the_mean() -> None:
    assert summary([0.1, 0.3])["standard_error"] == pytest.approx(0.1)


def test_anchors_stay_where_the_published_results_had_them() -> None:
    truth_m = np.random.default_rng(0).uniform(-2, 9, (30, 40)).astype(np.float32)
    anchors = draw_anchors(Frame(Path(), {"set": "nyu", "id": "0009"}), truth_m, 20, 3)
    v, u = np.nonzero(truth_m > 0)
    chosen = np.random.default_rng([zlib.crc32(b"nyu/0009"), 3]).choice(v.size, 20, replace=False)
    np.testing.assert_array_equal(anchors.uv_px, np.stack([u[chosen], v[chosen]], axis=1))
    np.testing.assert_array_equal(anchors.z_m, truth_m[v[chosen], u[chosen]])
