"""A result as an xarray.Dataset."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mrac.errors import MissingExtra
from mrac.result.metric_depth import MetricDepth

if TYPE_CHECKING:
    import xarray


def to_xarray(result: MetricDepth) -> "xarray.Dataset":
    """`depth_m` and `sigma_m` over (v, u), the verdicts over `anchor`, status, space, stages as attributes.

    Raises:
        MissingExtra: xarray is not installed.
    """
    try:
        import xarray  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("to_xarray", "view") from None
    height, width = result.depth_m.shape
    variables: dict[str, Any] = {
        "depth_m": (("v", "u"), result.depth_m, {"units": "m", "long_name": "depth along the optical axis"}),
        "sigma_m": (("v", "u"), result.sigma_m, {"units": "m", "long_name": "standard deviation of depth"}),
        **{name: ("anchor", values) for name, values in vars(result.anchors).items()},
    }
    about = {"status": result.status, "space": result.space, **{f"{k}_stage": v for k, v in result.stages.items()}}
    return xarray.Dataset(variables, coords={"v": np.arange(height), "u": np.arange(width)}, attrs=about)
