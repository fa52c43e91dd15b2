import math
from dataclasses import asdict

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


LIMITS = [  # stage, name, option, least and largest value
    ("fit", "evidence", "amplitude prior_anchors noise soft_noise", 1e-4, 1e6),
    ("fit", "evidence", "slope_std contrast contrast_std", 1e-4, 10.0),
    ("fit", "evidence", "prior_unshifted prior_undeclared", 1e-9, 0.9999),
    ("fit", "evidence", "dof", 2.1, 1e3),
    ("fit", "gnc", "threshold", 1e-9, 1e9),
    ("fit", "gnc", "growth", 1.001, 1e3),
    ("fit", "huber", "threshold", 1e-3, 1e9),
    ("fit", "huber", "max_rounds", 1, 10**6),
    ("fit", "msac", "threshold", 1e-9, 1e9),
    ("fit", "msac", "trials", 1, 10**7),
    ("fit", "msac", "seed", 0, 2**32 - 1),
    ("fit", "ransac", "threshold", 0.0, 1e9),
    ("fit", "ransac", "trials", 1, 10**7),
    ("fit", "ransac", "seed", 0, 2**32 - 1),
    ("fit", "truncated_l1", "limit", 1e-9, 1e9),
    ("gate", "consensus", "amplitude amplitude_without_relative amplitude_spread noise slope_std", 1e-4, 1e6),
    ("gate", "consensus", "prior_inliers prior_outliers", 1e-4, 1e6),
    ("gate", "consensus", "prior_clean majority", 1e-4, 0.9999),
    ("gate", "consensus", "dof", 2.1, 1e3),
    ("gate", "consensus", "majority_penalty", 0.0, 1e6),
    ("gate", "consensus", "max_starts", 1, 1000),
    ("gate", "consensus", "min_evidence", -1e6, 1e6),
    ("gate", "consensus_learned", "reject_from", 1e-3, 0.999),
    ("gate", "consensus_learned", "model_weight near_object_odds", 0.0, 1e3),
    ("gate", "range", "min_depth_m", 0.0, 1e6),
    ("gate", "siegel_mad", "kappa", 0.0, 1e9),
    ("gate", "theil_sen_mad", "kappa", 0.0, 1e9),
]


@pytest.mark.parametrize(("stage", "name", "options", "least", "largest"), LIMITS)
def test_the_ends_of_a_range_are_allowed_and_nothing_beyond(
    stage: str, name: str, options: str, least: float, largest: float
) -> None:
    make = registry.load(stage, name)
    whole = isinstance(least, int)
    below, above = (least - 1, largest + 1) if whole else (math.nextafter(least, -1e9), math.nextafter(largest, 1e99))
    for option in options.split():
        for value in (least, largest):
            assert getattr(make(**{option: value}), option) == value
        for value in (below, above):
            with pytest.raises(ContractError, match=rf"\.{option}: "):
                make(**{option: value})


def test_the_defaults_are_those_that_the_published_figures_were_made_with() -> None:
    mixture = {
        "amplitude": 0.22, "noise": 0.25, "amplitude_without_relative": 0.5, "amplitude_spread": 0.6, "dof": 5.0,
        "slope_std": 0.15, "prior_clean": 0.5, "prior_inliers": 8.0, "prior_outliers": 2.0, "majority": 0.55,
        "majority_penalty": 60.0, "max_starts": 8, "min_evidence": 1.0,
    }  # fmt: skip
    gnc, ransac = {"threshold": 0.2, "growth": 1.4}, {"threshold": 0.0, "trials": 200, "seed": 0}
    msac = {"threshold": 0.2, "trials": 2000, "seed": 0}
    evidence = {
        "amplitude": 0.2, "noise": 0.5, "soft_noise": 0.02, "prior_anchors": 4.0, "slope_std": 0.2, "contrast": 2.0,
        "contrast_std": 0.8, "prior_unshifted": 0.8, "prior_undeclared": 0.001, "dof": 5.0,
    }  # fmt: skip
    wanted = {
        "gate": {
            "consensus": mixture,
            "consensus_learned": {
                **mixture, "reject_from": 0.3, "model_weight": 0.3, "near_object_odds": 16.0,
                "weights": "consensus_learned",
            },
            "gnc": gnc, "msac": msac, "none": {}, "range": {"min_depth_m": 0.1, "max_depth_m": 0.0}, "ransac": ransac,
            "siegel_mad": {"kappa": 2.0}, "theil_sen_mad": {"kappa": 2.0},
        },
        "fit": {
            "evidence": evidence, "gnc": gnc, "huber": {"threshold": 1.345, "max_rounds": 100}, "msac": msac, "ols": {},
            "ransac": ransac, "theil_sen": {}, "truncated_l1": {"limit": 0.2},
        },
    }  # fmt: skip
    for stage, each in wanted.items():
        assert {name: asdict(registry.create(stage, name)) for name in registry.names(stage)} == each
