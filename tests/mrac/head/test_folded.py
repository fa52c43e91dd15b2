import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.head.affine import Affine
from mrac.head.folded import Folded
from tests.mrac.head.scenes import scene

RAMP = np.linspace(-1.0, 1.0, 60)[None, :].repeat(40, axis=0)


def test_negative_inverse_depth_is_mirrored() -> None:
    """Where the affine head clips to the far end, ten kilometres, the depth is that of the positive side."""
    made = scene(RAMP, [[40, 3], [50, 9], [59, 20]], [2.0, 2.0, 2.0], line=(0.5, 0.0))
    folded, plain = Folded()(made).depth_m, Affine()(made).depth_m
    np.testing.assert_allclose(folded, 1.0 / (np.abs(0.5 * RAMP) + 1e-3), rtol=1e-5)
    np.testing.assert_allclose(folded, folded[:, ::-1], rtol=1e-5)
    assert plain[0, 0] == pytest.approx(1e4)
    assert folded.max() < 1e3


def test_other_spaces_are_the_affine_head_s() -> None:
    made = scene(RAMP + 2, [[4, 3], [50, 9], [59, 20]], [2.0, 3.0, 4.0], "depth")
    np.testing.assert_array_equal(Folded()(made).depth_m, Affine()(made).depth_m)


def test_the_floor_is_checked() -> None:
    with pytest.raises(ContractError, match="floor_per_m"):
        Folded(floor_per_m=0.0)
