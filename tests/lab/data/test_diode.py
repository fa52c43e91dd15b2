from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.lab.data import datasets_in
from mrac.lab.data.diode import Diode
from tests.lab.layouts import diode


def test_parts_are_sets_of_one_seed(tmp_path: Path) -> None:
    diode.write(tmp_path)
    indoors, outdoor = datasets_in(tmp_path)
    assert [(one.name, len(one), one.expected) for one in (indoors, outdoor)] == [
        ("diode_indoors", 2, 325),
        ("diode_outdoor", 1, 446),
    ]
    whole = Diode(tmp_path)
    assert (whole.name, len(whole), whole.expected) == ("diode", 3, 771)
    assert {one.seed_name for one in (indoors, outdoor, whole)} == {"diode"}
    assert [s.id for s in indoors] + [s.id for s in outdoor] == [s.id for s in whole]
    assert whole[2].scene == "scene_00022"


def test_the_mask_decides_and_the_cap_is_a_choice(tmp_path: Path) -> None:
    diode.write(tmp_path)
    sample = Diode(tmp_path)[0]
    stored = np.load(sample.entry.files["depth"])[..., 0]
    assert (stored[np.isnan(sample.truth_m)] == 7.0).all()
    assert sample.truth_m[sample.scored].max() < 80
    marigold = Diode(tmp_path, min_depth_m=0.6, max_depth_m=350.0)[0]
    assert marigold.truth_m[marigold.scored].max() > 90


def test_a_mask_of_another_size_is_refused(tmp_path: Path) -> None:
    diode.write(tmp_path)
    sample = Diode(tmp_path)[0]
    np.save(sample.entry.files["depth_mask"], np.ones((3, 4)))
    with pytest.raises(ContractError, match=r"its mask \(3, 4\)"):
        _ = sample.truth_m
