import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.head.patch_scale import PatchScale
from tests.mrac.head.scenes import scene

FIELD = 0.3 + np.random.default_rng(0).random((40, 60))
FIT_M = 1.0 / (0.5 * FIELD + 0.1)
PIXELS = np.array([[u, v] for u in range(2, 60, 4) for v in range(2, 40, 4)])


@pytest.mark.parametrize("factor", [0.5, 1.7])
def test_one_scale_for_all_is_met_exactly(factor: float) -> None:
    made = scene(FIELD, PIXELS, factor * FIT_M[PIXELS[:, 1], PIXELS[:, 0]], line=(0.5, 0.1))
    np.testing.assert_allclose(PatchScale()(made).depth_m, factor * FIT_M, rtol=1e-4)


def test_a_scale_that_changes_over_the_image_is_followed() -> None:
    truth = FIT_M * (1.0 + np.arange(60) / 60)
    made = scene(FIELD, PIXELS, truth[PIXELS[:, 1], PIXELS[:, 0]], line=(0.5, 0.1))
    assert np.abs(PatchScale()(made).depth_m / truth - 1)[:, 8:-8].mean() < 0.03


def test_a_patch_has_the_least_squares_scale_of_its_anchors() -> None:
    made = scene(FIELD, PIXELS, np.random.default_rng(2).uniform(1, 5, len(PIXELS)), line=(0.5, 0.1))
    p, z = FIT_M[PIXELS[:, 1], PIXELS[:, 0]], made.samples.z_m
    single = PatchScale(patches=1, anchor_weight=1e9)(
        scene(FIELD[:, :40], PIXELS[PIXELS[:, 0] < 40], z[PIXELS[:, 0] < 40], line=(0.5, 0.1))
    )
    left = PIXELS[:, 0] < 40
    np.testing.assert_allclose(single.depth_m / FIT_M[:, :40], (p[left] @ z[left]) / (p[left] @ p[left]), rtol=1e-4)


def test_options_are_checked() -> None:
    with pytest.raises(ContractError, match="patches"):
        PatchScale(patches=0)
