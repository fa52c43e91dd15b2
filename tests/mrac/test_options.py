import pytest

from mrac import ContractError, registry

WRONG = [
    "gate theil_sen_mad:kappa=nan", "gate theil_sen_mad:kappa=-1", "gate theil_sen_mad:kappa=inf",
    "gate siegel_mad:kappa=nan", "gate siegel_mad:kappa=-1",
    "gate ransac:seed=1.5", "gate ransac:threshold=nan", "gate ransac:threshold=-1", "gate ransac:trials=0",
    "gate ransac:trials=99999999999999999999999",
    "fit ransac:trials=-1", "fit huber:threshold=nan", "fit huber:max_rounds=1.5", "fit huber:max_rounds=0",
    "fit evidence:slope_std=0", "fit evidence:prior_undeclared=1", "fit evidence:noise=nan", "fit evidence:dof=2",
    "head kriging:noise=nan", "head kriging:position_length=0", "head kriging:amplitude=1e300",
    "head kriging:max_exact=2.5", "head kriging:trend_reach=0",
]  # fmt: skip


@pytest.mark.parametrize("spec", WRONG)
def test_impossible_parameters_are_named_when_the_stage_is_made(spec: str) -> None:
    stage, _, rest = spec.partition(" ")
    option = rest.partition(":")[2].partition("=")[0]
    with pytest.raises(ContractError, match=rf"\.{option}: .* is needed"):
        registry.create(stage, rest)


def test_whole_numbers_serve_as_numbers() -> None:
    assert registry.create("head", "kriging:noise=1").noise == 1
