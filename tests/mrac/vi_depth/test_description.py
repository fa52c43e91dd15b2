import json

import pytest

from mrac import ContractError
from mrac.vi_depth.description import describe, described
from mrac.vi_depth.predictors import Standardisation
from mrac.vi_depth.ranges import WIDE, Ranges

OUTDOOR = Ranges(max_depth_m=80.0, max_pred_m=80.0)
STATISTICS = Standardisation(0.4, 0.3, 0.45, 0.12)


def test_what_was_described_comes_back() -> None:
    about = {**describe(STATISTICS, OUTDOOR), "mrac.recipe": "sml_retrained"}
    assert all(isinstance(value, str) for value in about.values())
    assert described(about, "here") == (STATISTICS, OUTDOOR)


@pytest.mark.parametrize("about", [{}, {"mrac.kind": "residual"}])
def test_another_network_is_refused(about: dict[str, str]) -> None:
    with pytest.raises(ContractError, match=r"^here does not say that it is a scale-map learner .*predictor=NAME"):
        described(about, "here")


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("mrac.ranges", "{}x", "malformed"),
        ("mrac.ranges", '{"max_depth_m": 80.0}', "malformed"),  # beyond what may be predicted
        ("mrac.ranges", '{"farthest": 80.0}', "malformed"),
        ("mrac.standardisation", "3", "malformed"),
        ("mrac.standardisation", json.dumps([0.4, 0.3, 0.4]), "malformed"),
        ("mrac.standardisation", '{"inv_z_mean_per_m": 0.4}', "malformed"),
        ("mrac.standardisation", json.dumps({**vars(STATISTICS), "scale_std": 0.0}), "deviations > 0"),
        ("mrac.standardisation", json.dumps({**vars(STATISTICS), "scale_mean": "x"}), "malformed"),
        ("mrac.standardisation", json.dumps({**vars(STATISTICS), "scale_mean": float("nan")}), "finite means"),
    ],
)
def test_a_malformed_entry_is_named(key: str, text: str, said: str) -> None:
    with pytest.raises(ContractError, match=f"^here: .*{said}"):
        described({**describe(STATISTICS, WIDE), key: text}, "here")


def test_a_missing_entry_is_named() -> None:
    with pytest.raises(ContractError, match=r"mrac\.ranges"):
        described({k: v for k, v in describe(STATISTICS, WIDE).items() if k != "mrac.ranges"}, "here")
