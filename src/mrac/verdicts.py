"""What the stages' results say of every anchor, and of the scene as a whole."""

from collections.abc import Sequence

import numpy as np

from mrac.anchors._validity import Usable
from mrac.result import Verdicts
from mrac.types import WORST_SCORE, GateResult


def overall_status(statuses: Sequence[str], verdicts: Verdicts) -> str:
    """The first that is not `ok`; where all are, `mostly_unusable` if over half of the anchors were not kept."""
    named = next((status for status in statuses if status != "ok"), "ok")
    return "mostly_unusable" if named == "ok" and 2 * np.count_nonzero(~verdicts.keep) > len(verdicts) else named


def verdicts_on(used: Usable, gated: GateResult) -> Verdicts:
    """The gate's verdicts on the readings it saw, for every anchor: those merged into one reading share its verdict."""
    K, seen = used.reason.size, used.place >= 0
    place = used.place[seen]
    keep, score, outlier, weight = np.zeros(K, np.bool_), np.full(K, WORST_SCORE), np.ones(K), np.zeros(K)
    reason = used.reason.astype("<U32")
    keep[seen], score[seen], weight[seen] = gated.keep[place], gated.score[place], gated.weight[place]
    outlier[seen] = (1.0 - gated.weight if gated.outlier_probability is None else gated.outlier_probability)[place]
    reason[seen] = gated.reason[place]
    return Verdicts(keep, score, outlier, weight, reason)
