"""Foundations that fail under training readings: in part, or at large but mixed with what the network gave."""

import numpy as np
import pytest

from mrac.lab.foundation_faults import FAULTS
from mrac.lab.train.gate import draw_fields
from mrac.lab.train.gate.draw_fields import _FAILING, failing, with_fault
from mrac.types import RelativeDepth
from tests.lab.train.gate.made_frame import frame, ramp


def test_a_fault_moves_a_part_of_the_field_and_leaves_the_rest() -> None:
    moved = []
    for seed in range(20):
        change = with_fault(frame(), np.random.default_rng(seed)) - frame().field
        assert 0.1 < np.abs(change).max() <= 1.0 + 1e-6
        assert (np.abs(change) < 1e-3).mean() > 0.2
        moved.append(change.sum())
    assert min(moved) < 0.0 < max(moved)


def test_a_failing_field_is_a_field_and_another_one() -> None:
    made, seen = ramp(), []
    for seed in range(20):
        field = failing(made, np.random.default_rng(seed))
        assert field.shape == made.field.shape
        assert field.dtype == made.field.dtype
        assert np.isfinite(field).all()
        assert np.abs(field - made.field).max() > 0.01
        np.testing.assert_array_equal(field, failing(made, np.random.default_rng(seed)))
        seen.append(np.abs(field - made.field).mean())
    np.testing.assert_array_equal(made.field, ramp().field)
    assert max(seen) > 4 * min(seen), "some faults leave more of the scene than others"


@pytest.mark.parametrize("name", _FAILING)
def test_a_failing_field_lies_between_the_network_s_and_the_fault_s(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_fields, "_FAILING", (name,))
    made, shares = ramp(), []
    given, mirrored = (RelativeDepth(field, "log_depth") for field in (made.field, made.field[:, ::-1]))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rng.integers(1)  # which fault
        whole = (FAULTS[name](given, mirrored, rng).values - made.field).astype(np.float64)
        part = failing(made, np.random.default_rng(seed)) - made.field
        share = float((part * whole).sum() / (whole**2).sum())
        np.testing.assert_allclose(part, share * whole, atol=1e-5)
        shares.append(share)
    assert 0.3 - 1e-6 <= min(shares) < 0.6 < max(shares) <= 1.0 + 1e-6
