"""What `mrac.gpu` says where torch is not installed."""

import sys

import pytest

import mrac.gpu
from mrac.errors import MissingExtra


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[torch\]"):
        _ = mrac.gpu.GpuCalibrator


def test_only_what_is_public_is_offered() -> None:
    assert "GpuCalibrator" in dir(mrac.gpu)
    with pytest.raises(AttributeError, match="GpuCalibrater"):
        _ = mrac.gpu.GpuCalibrater
