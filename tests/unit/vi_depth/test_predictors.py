import re
from pathlib import Path

import pytest

from mrac import ContractError
from mrac.vi_depth.predictors import BUDGETS, PREDICTORS, Standardisation, predictor

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
