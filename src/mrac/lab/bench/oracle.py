"""`gate=oracle`: the gate that is told which anchors are wrong, the limit of what any gate can do for its head.

No stage ever sees the truth. The benchmark leaves the wrong anchors away before it calls the method, whose own gate it
has set to `none`, and puts them back as rejected when it judges the verdicts. So it exists here only: `mrac list gates`
has no such name, and no `Calibrator` can be asked for it.
"""

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import BoolArray
from mrac.lab.bench.conditions import Drawn


def right_ones(drawn: Drawn) -> Anchors:
    """The anchors that are not wrong: none at all where all of them are."""
    right, all_of_them = ~drawn.wrong, drawn.anchors
    sigma_m = None if all_of_them.sigma_m is None else all_of_them.sigma_m[right]
    return Anchors(all_of_them.uv_px[right], all_of_them.z_m[right], sigma_m)


def verdicts(kept: BoolArray, wrong: BoolArray) -> BoolArray:
    """(K,) of all anchors, from what became of the right ones (in their order) and which are `wrong` (K,)."""
    keep = np.zeros(wrong.size, np.bool_)
    keep[~wrong] = kept
    return keep
