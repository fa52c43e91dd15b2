"""A constant is changed for the time of a run, and put back."""

import numpy as np
import pytest

from mrac.gate import consensus
from mrac.gate.consensus import initialisation, model
from mrac.lab.studies.gate_constants import CONSTANTS, changed


def test_every_constant_exists_and_comes_back() -> None:
    for module, names in CONSTANTS:
        for name in names:
            before = getattr(module, name)
            with changed(module, name, 2.0):
                assert getattr(module, name) != before
            assert getattr(module, name) == before


def test_whole_numbers_stay_whole_and_tuples_change_as_a_whole() -> None:
    with changed(consensus, "_ROUNDS", 0.5):
        assert getattr(consensus, "_ROUNDS") == 2  # noqa: B009  (a checker takes it for 5)
    with changed(initialisation, "_CARRIED_ON", 0.01):
        assert getattr(initialisation, "_CARRIED_ON") == 1  # noqa: B009
    with changed(model, "_DENSE", 0.5):
        assert model._DENSE == (1.0, 1.0)
    with pytest.raises(ZeroDivisionError), changed(model, "_FLOOR", 2.0):
        raise ZeroDivisionError
    assert model._FLOOR == 1e-3


def test_the_constants_of_the_sentinel_are_those_that_decide() -> None:
    """They matter most: a copy in another module that nothing reads would show no effect at all."""
    z_m = np.r_[np.full(4, 9.0), np.linspace(1.0, 5.0, 46)]
    assert model.repeated_values(z_m).sum() == 4
    for name in ("_SENTINEL_COUNT", "_SENTINEL_SHARE"):
        with changed(model, name, 2.0):
            assert not model.repeated_values(z_m).any(), name
    with changed(model, "_SENTINEL_ALONE", 20.0):  # what is near it then reaches down to 3.6 m
        assert not model.repeated_values(z_m).any()
    assert model.repeated_values(z_m).sum() == 4
