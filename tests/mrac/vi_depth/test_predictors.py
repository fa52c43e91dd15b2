import re
from pathlib import Path

import numpy as np
import pytest

from mrac import ContractError
from mrac.vi_depth.predictors import BUDGETS, PREDICTORS, Standardisation, predictor
from mrac.vi_depth.resize import resize_cubic

FACTS = Path(__file__).parents[4] / "shared" / "facts" / "vi_depth.md"


def test_all_seven_are_there_at_all_three_budgets() -> None:
    assert len(PREDICTORS) == 7
    files = {each.learner_file(budget) for each in PREDICTORS.values() for budget in BUDGETS}
    assert len(files) == 21
    assert "sml_model.dpredictor.dpt_levit_224.nsamples.1500.ckpt" in files
    assert predictor("dpt_hybrid").standardisation(150) == Standardisation(0.729, 0.210, 0.404, 0.117)


def test_every_statistic_is_the_documented_one() -> None:
    if not FACTS.is_file():
        pytest.skip("facts/vi_depth.md is not beside the repository; only one statistic was compared")
    section = FACTS.read_text(encoding="utf-8").partition("### 1.3")[2].partition("### 1.4")[0]
    number = r"(0\.\d{3})"
    row = re.compile(rf"^\| (\w*) *\| (\d+) \| {number} \| {number} \| {number} \| {number} \|$", re.MULTILINE)
    name, found = "", {}
    for stated, budget, *numbers in row.findall(section):
        name = stated or name
        found[name, int(budget)] = Standardisation(*map(float, numbers))
    assert found == {(each.name, n): each.standardisation(n) for each in PREDICTORS.values() for n in BUDGETS}


def test_mistakes_are_named() -> None:
    with pytest.raises(ContractError, match="no predictor 'dpt_huge'; known: dpt_beit_large_512, "):
        predictor("dpt_huge")
    for wrong in (predictor("midas_small").standardisation, predictor("midas_small").learner_file):
        with pytest.raises(ContractError, match="a budget of 50 arrived; one of 150, 500, 1500 is needed"):
            wrong(50)


@pytest.mark.lab
@pytest.mark.parametrize(("size", "input_px"), [("large", 384), ("tiny", 256)])
@pytest.mark.parametrize("shape", [(120, 160), (94, 311), (300, 200)])
def test_our_swin_networks_are_fed_as_vi_depth_feeds_them(size: str, input_px: int, shape: tuple[int, int]) -> None:
    """With `resize=original`, which the method `vi_depth` asks for."""
    from mrac.foundation._dpt import Dpt  # noqa: PLC0415  (imports torch)
    from tests.networks.published import dpt_swinv2  # noqa: PLC0415

    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    unit = np.stack([resize_cubic(image[..., c] / np.float32(255.0), (input_px, input_px)) for c in range(3)])
    got = Dpt(dpt_swinv2(size), {}, "original", "test").prepare(image)
    np.testing.assert_allclose(got, (unit - 0.5) / 0.5, atol=1e-5)
