"""Checks the arguments of a calibrator; each message says what to write instead."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac import registry
from mrac.anchors import Anchors
from mrac.camera.model import checked_camera
from mrac.errors import ContractError
from mrac.fit.base import Fit
from mrac.foundation.base import Foundation
from mrac.gate._estimator import EstimatorGate
from mrac.gate.base import Gate
from mrac.head.base import Head
from mrac.runtime.cache import PredictionCache
from mrac.stage_results import describe
from mrac.types import RelativeDepth

_BASES: Final[dict[str, type]] = {"foundation": Foundation, "gate": Gate, "fit": Fit, "head": Head}
_EXAMPLES: Final = {"foundation": "embedded", "gate": "theil_sen_mad:kappa=3", "fit": "ols", "head": "kriging"}
_FUNCTIONS: Final = {
    "foundation": "a function of the image to (H, W) relative depth",
    "gate": "a function of the samples to a (K,) keep mask or weights",
    "fit": "a callable of the samples to a FitResult",
    "head": "a callable of the scene to a HeadResult",
}


def as_stage(stage: str, choice: Any) -> Any:
    """The implementation that a user's choice stands for: a spec, an instance, or a plain function.

    Raises:
        ContractError: it is none of these; the message shows what each looks like.
    """
    if isinstance(choice, str):
        return registry.create(stage, choice)
    base = _BASES[stage]
    if isinstance(choice, base):
        return choice
    if callable(choice) and not isinstance(choice, type):
        if stage == "foundation":
            return Foundation.from_function(choice)
        return Gate.from_function(choice) if stage == "gate" else choice
    if stage == "gate" and hasattr(choice, "fit") and not isinstance(choice, type):
        return EstimatorGate(choice)
    if isinstance(choice, type):
        raise ContractError(
            f"Calibrator: {stage}: the class {choice.__name__} arrived, an instance is needed: "
            f"{stage}={choice.__name__}(...)"
        )
    shown = "" if isinstance(choice, np.ndarray) else f" ({choice!r:.40})"
    raise ContractError(
        f"Calibrator: {stage}: {describe(choice)}{shown} arrived; a name from `mrac list {stage}s` is needed "
        f'({stage}="{_EXAMPLES[stage]}"), or an instance of mrac.{base.__name__}, or {_FUNCTIONS[stage]}'
    )


def as_cache(cache: object) -> PredictionCache | None:
    """The store that a user's choice stands for.

    Raises:
        ContractError: it is neither a store, nor a folder, nor None.
    """
    if cache is None or isinstance(cache, PredictionCache):
        return cache
    if isinstance(cache, Path | str):
        return PredictionCache(cache)
    raise ContractError(
        f'Calibrator: cache: {describe(cache)} arrived; a folder is needed, cache="predictions", or None'
    )


def check_call(image: object, anchors: object, relative: object, camera: object = None) -> None:
    """Raises `ContractError`, which shows the right call, unless these are image, anchors, relative depth, camera."""
    check_image(image)
    check_anchors(anchors)
    check_relative(relative)
    if camera is not None:
        checked_camera(camera, "camera")


def check_anchors(anchors: object) -> None:
    """Raises `ContractError`, which shows the right call, unless `anchors` is an `Anchors`."""
    if isinstance(anchors, Anchors):
        return
    hint = "calibrator(image, Anchors(uv_px, z_m)), with uv_px (K, 2) in pixels and z_m (K,) in metres"
    if isinstance(anchors, tuple | list) and len(anchors) in (2, 3):
        hint = "calibrator(image, Anchors(*anchors))"
    if isinstance(anchors, str) or hasattr(anchors, "__fspath__"):
        hint = "calibrator(image, read_anchors(path))"
    raise ContractError(f"anchors: an Anchors is needed, {describe(anchors)} arrived; {hint}")


def check_relative(relative: object) -> None:
    """Raises `ContractError`, which shows the right call, unless `relative` is a `RelativeDepth` or None."""
    if relative is not None and not isinstance(relative, RelativeDepth):
        raise ContractError(
            f"relative: a RelativeDepth is needed, {describe(relative)} arrived; calibrator(image, anchors, "
            'RelativeDepth(values, "inverse_depth")), or "depth", or "log_depth": which one is affine in the values'
        )


def check_image(image: object) -> None:
    """Raises `ContractError`, which says how to convert it, unless `image` is a non-empty (H, W, 3) uint8 array."""
    if not isinstance(image, np.ndarray):
        hint = "; np.asarray(picture.convert('RGB')) makes one of a Pillow image" if hasattr(image, "convert") else ""
        if isinstance(image, str) or hasattr(image, "__fspath__"):
            hint = "; read_image(path) reads one"
        raise ContractError(f"image: an (H, W, 3) uint8 array is needed, {type(image).__name__} arrived{hint}")
    if isinstance(image, np.ma.MaskedArray):
        raise ContractError("image: a masked array arrived; every pixel is needed: image.filled(0)")
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        arrived = f"{image.dtype} of shape {image.shape}"
        raise ContractError(f"image: an (H, W, 3) uint8 array is needed, {arrived} arrived{_remedy(image)}")
    if image.size == 0:
        raise ContractError(f"image: at least one pixel is needed, shape {image.shape} arrived")


def _remedy(image: NDArray[Any]) -> str:
    """How to convert the image, where that is clear; converting silently would turn a mistake into a dark picture."""
    steps = []
    if image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 1):
        steps.append("np.dstack([image] * 3) for grey")
    elif image.ndim == 3 and image.shape[2] == 4:
        steps.append("image[..., :3] to drop alpha")
    elif image.ndim == 3 and image.shape[0] == 3:
        steps.append("image.transpose(1, 2, 0) for channels first")
    if image.dtype == np.uint16:
        steps.append("(image // 257).astype(np.uint8) for 16 bits")
    elif image.dtype.kind == "f":
        steps.append("np.rint(image * 255).astype(np.uint8) for floats from 0 to 1")
    elif image.dtype == np.bool_:
        steps.append("image.astype(np.uint8) * 255 for black and white")
    return f"; {', '.join(steps)}" if steps else ""
