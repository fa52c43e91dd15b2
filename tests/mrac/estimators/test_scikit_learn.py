"""scikit-learn's own checks of an estimator, and the parts of it that take these estimators."""

from typing import Any

import numpy as np
import pytest

from mrac import GncGate, MsacGate, RansacGate, SiegelGate, TheilSenGate
from mrac.conventions import FloatArray
from mrac.estimators._line import RobustLine

pytest.importorskip("sklearn")

from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

# The checks that fail, each because the check itself asks for what a line in one variable cannot or shall not do.
NOT_APPLICABLE = {
    "check_fit1d": "asks that x (n,) is refused: here x is one variable, and (n,) is how it is usually held",
    "check_fit2d_predict1d": "asks that predict refuses x (n,): see check_fit1d",
    "check_n_features_in_after_fitting": "fits four features and predicts two: there is one",
    "check_dtype_object": "asks for TypeError where a cell is a dict: here it is ContractError, a ValueError",
}


@pytest.fixture
def one_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives every check one column, (n, 1), of the several that scikit-learn draws.

    Its own handling of one variable makes x (n,), on which 11 of its checks then fail in their own code by indexing
    [:, 0]; so more is checked.
    """

    def first_column(_estimator: object, X: FloatArray, kernel: object = None) -> FloatArray:
        return X[:, :1] if X.ndim == 2 else X

    monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_X", first_column)


@pytest.mark.usefixtures("one_feature")
@pytest.mark.filterwarnings("ignore::UserWarning")  # some checks give a column for y
@pytest.mark.parametrize("line", [TheilSenGate(), SiegelGate(), RansacGate(), MsacGate(), GncGate()], ids=repr)
def test_scikit_learn_s_checks(line: RobustLine) -> None:
    results: list[dict[str, Any]] = estimator_checks.check_estimator(line, on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert set(failed) == set(NOT_APPLICABLE), failed
    assert sum(result["status"] == "passed" for result in results) >= 45


def test_scikit_learn_takes_them() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(1.0, 2.0, 80)
    z = 3.0 * x + 1.0 + 0.01 * rng.normal(size=80)
    z[::6] *= 0.4
    line = clone(RansacGate(threshold=0.05))
    assert is_regressor(line)
    assert line.get_params() == {"threshold": 0.05, "trials": 200, "seed": 0}
    with pytest.raises(NotFittedError):
        line.predict(x)
    scaled = make_pipeline(StandardScaler(), TheilSenGate()).fit(x[:, None], z)
    np.testing.assert_allclose(scaled.predict(x[:, None]), TheilSenGate().fit(x, z).predict(x), rtol=1e-9)
    search = GridSearchCV(TheilSenGate(), {"kappa": [1.0, 3.0]}, cv=3).fit(x[:, None], z)
    assert search.best_params_["kappa"] in (1.0, 3.0)
