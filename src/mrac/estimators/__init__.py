"""The robust lines of the gates as estimators in scikit-learn's style, for use without an image.

    from mrac.estimators import TheilSenGate
    line = TheilSenGate(kappa=2.0).fit(x, z)
    line.inlier_mask_, line.coef_, line.intercept_, line.predict(x), line.score(x, z)

`x` is (n,) or (n, 1), `z` (n,). scikit-learn is not needed and not imported; where it is installed, its `clone`,
`Pipeline`, `GridSearchCV` and `check_is_fitted` take these estimators.
"""

from mrac.estimators.gnc import GncGate
from mrac.estimators.msac import MsacGate
from mrac.estimators.ransac import RansacGate
from mrac.estimators.siegel import SiegelGate
from mrac.estimators.theil_sen import TheilSenGate

__all__ = ["GncGate", "MsacGate", "RansacGate", "SiegelGate", "TheilSenGate"]
