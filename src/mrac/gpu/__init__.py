"""The method `default` on a GPU, by torch: whole batches of frames on the device, without a round trip to the host.

The extra `torch` is needed; nothing here is imported before it is asked for.
"""

from typing import TYPE_CHECKING, Any

from mrac.errors import MissingExtra

if TYPE_CHECKING:
    from mrac.gpu.calibrator import GpuCalibrator, GpuFrame, GpuResult, Tuning

__all__ = ["GpuCalibrator", "GpuFrame", "GpuResult", "Tuning"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import torch  # noqa: F401, PLC0415
    except ImportError:
        raise MissingExtra("mrac.gpu", "torch") from None
    from mrac.gpu import calibrator  # noqa: PLC0415

    return getattr(calibrator, name)


def __dir__() -> list[str]:
    return sorted(__all__)
