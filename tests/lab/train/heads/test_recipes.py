"""The recipes are the paper's: its numbers, and what differs from row to row."""

from dataclasses import asdict

import pytest

from mrac.lab.train.heads import recipes
from mrac.lab.train.heads.options import HeadOptions, LossWeights


def differing(one: HeadOptions, other: HeadOptions) -> set[str]:
    a, b = asdict(one), asdict(other)
    return {name for name in a if a[name] != b[name]} - {"recipe"}


def test_vanilla_is_the_recipe_of_section_iii_f() -> None:
    options = recipes.vanilla()
    assert (options.num_epochs, options.batch, options.rate, options.warmup_epochs) == (80, 12, 1e-3, 2.0)
    assert options.budgets == (5, 10, 25, 50)
    assert options.dropout_rate_max == 0.0
    assert (options.kind, options.form, options.space) == ("residual", "metres", "depth")
    assert options.weights == LossWeights(silog=1.0, cwa=1.0, ssc=0.5, fmp=0.2, res=0.0)


def test_b_prime_changes_one_thing() -> None:
    assert differing(recipes.vanilla(), recipes.b_prime()) == {"dropout_rate_max"}
    assert recipes.b_prime().dropout_rate_max == 0.4


def test_raw_depth_changes_the_head() -> None:
    assert differing(recipes.vanilla(), recipes.raw_depth()) == {"kind"}


def test_the_learner_has_its_own_budget_and_space() -> None:
    options = recipes.sml_retrained()
    assert (options.kind, options.budgets, options.space) == ("sml", (150,), "inverse_depth")


def test_the_ablation_has_the_eleven_rows_of_the_paper() -> None:
    rows = recipes.ablation()
    assert list(rows) == [
        "raw_full", "raw_no_silog", "raw_no_cwa", "raw_no_ssc", "raw_no_fmp",
        "residual_full", "residual_no_silog", "residual_no_cwa", "residual_no_ssc", "residual_no_fmp",
        "residual_no_res",
    ]  # fmt: skip
    assert all(options.recipe == name for name, options in rows.items())


@pytest.mark.parametrize("name", [n for n in recipes.ablation() if "_no_" in n])
def test_a_row_lacks_one_loss(name: str) -> None:
    rows = recipes.ablation()
    kind, _, loss = name.partition("_no_")
    full, row = asdict(rows[f"{kind}_full"].weights), asdict(rows[name].weights)
    assert {n for n in full if full[n] != row[n]} == {loss}
    assert full[loss] > 0
    assert row[loss] == 0
    assert differing(rows[f"{kind}_full"], rows[name]) == {"weights"}


def test_the_recommended_row_is_vanilla() -> None:
    assert differing(recipes.ablation()["residual_no_res"], recipes.vanilla()) == set()
