"""How many readings are dealt into groups, and which of them are fitted: as tables by their number.

The reference permutes readings by a generator of fixed seed, so that what it does depends on their number alone. Every
permutation is drawn once on the host, when a module is made; the device looks up the one it needs.
"""

from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mrac.fit.evidence import _MAX_READINGS
from mrac.gate.consensus import _GROUP_SIZE, divided

MAX_FITTED: Final = _MAX_READINGS + 2  # and those of the least and the largest relative depth
_NOBODY: Final = -1


def num_groups(num: int) -> int:
    """Groups that `num` readings are dealt into, at most."""
    return -(-num // _GROUP_SIZE)


def group_table(max_num: int) -> NDArray[np.int16]:
    """(max_num + 1, G, W) the readings of each group of n readings, for every n; −1 where there is none."""
    members = np.full((max_num + 1, num_groups(max_num), min(max_num, _GROUP_SIZE)), _NOBODY, np.int16)
    for num in range(1, max_num + 1):
        for group, which in enumerate(divided(num)):
            members[num, group, : which.size] = which
    return members


def fitted_table(max_num: int) -> NDArray[np.bool_]:
    """(max_num + 1, max_num) whether the fit uses reading i of n, for every n; see `mrac.fit.evidence`."""
    used = np.zeros((max_num + 1, max_num), np.bool_)
    for num in range(max_num + 1):
        used[num, np.random.default_rng(0).permutation(num)[:_MAX_READINGS]] = True
    return used


class Dealt:
    """Readings of B frames in G groups of up to W.

    Args:
        members_BGW: reading of each place, −1 for none; None where all K readings of a frame are one group.
        valid_BK: which readings there are.

    Attributes:
        valid: (G, B, W) which places are taken.
    """

    def __init__(self, members_BGW: Tensor | None, valid_BK: Tensor) -> None:
        self._num = valid_BK.shape[1]
        self._members = members_BGW
        self.valid = valid_BK[None] if members_BGW is None else (members_BGW >= 0).transpose(0, 1)

    def groups(self, values: Tensor) -> Tensor:
        """(G, B, W, ...) of values (B, K, ...); those of a free place are some reading's."""
        if self._members is None:
            return values[None]
        B, G, W = self._members.shape
        which = self._members.clamp(min=0).reshape(B, G * W, *([1] * (values.dim() - 2)))
        dealt = values.gather(1, which.expand(-1, -1, *values.shape[2:]))
        return dealt.reshape(B, G, W, *values.shape[2:]).transpose(0, 1)

    def in_order(self, values: Tensor) -> Tensor:
        """(B, K) of values (G, B, W): the places of the readings again; 0 where there is none."""
        if self._members is None:
            return values[0]
        where = torch.where(self._members < 0, self._num, self._members).flatten(1)
        out = values.new_zeros(len(where), self._num + 1)
        return out.scatter(1, where, values.transpose(0, 1).flatten(1))[:, :-1]
