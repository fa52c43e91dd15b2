"""Applies what a warning advises, where the user asks for it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from mrac.anchors.readings import Anchors
from mrac.checks.evidence import Evidence
from mrac.checks.placement import best_placement
from mrac.checks.units import suspected
from mrac.errors import ContractError, shown
from mrac.units import PER_METRE

FIXABLE: Final = ("units", "swapped_uv", "normalised_uv", "image_size")


def fix(
    anchors: Anchors, image_size: tuple[int, int], names: Sequence[str], evidence: Evidence | None = None
) -> Anchors:
    """The readings as they are meant, by what the named checks find; unchanged where one finds nothing.

    Args:
        anchors: K readings as they came.
        image_size: (W, H) of the image.
        names: of `FIXABLE`; a unit may be stated in place of found: `units=mm`.
        evidence: what the checks saw. Without it there is no relative depth to compare with: units are then found by
            the plausible range alone, and swaps and sizes by positions outside the image alone.

    Raises:
        ContractError: a name cannot be fixed, or a unit is unknown.
    """
    W, H = image_size
    names = (names,) if isinstance(names, str) else names
    given: object = names
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise ContractError(f'fix: {shown(names)} arrived; names are needed, as fixed(image, anchors, ["units"])')
    seen = Evidence(anchors, (H, W)) if evidence is None else evidence
    for name in names:
        kind, _, stated = name.partition("=")
        if kind not in FIXABLE or (stated and kind != "units"):
            raise ContractError(f"fix: {name!r} arrived; one of {', '.join(FIXABLE)} is needed")
        if stated and stated not in PER_METRE:
            raise ContractError(f"fix: the unit {stated!r} arrived; one of {', '.join(PER_METRE)} is needed")
    placement = best_placement(seen)
    for name in names:
        kind, _, stated = name.partition("=")
        unit = (stated or suspected(seen)) if kind == "units" else None
        if unit:
            anchors = _scaled(anchors, 1.0 / PER_METRE[unit])
        elif kind == "normalised_uv" and seen.has_fractions:
            anchors = _moved(anchors, scale=(W, H))
        elif placement is not None and placement.kind == kind == "swapped_uv":
            anchors = _moved(anchors, swap=True)
        elif placement is not None and placement.kind == kind == "image_size":
            anchors = _moved(anchors, shift=0.5, scale=(W / placement.size[0], H / placement.size[1]))
    return anchors


def _scaled(anchors: Anchors, factor: float) -> Anchors:
    sigma = None if anchors.sigma_m is None else anchors.sigma_m * factor
    return replace(anchors, z_m=anchors.z_m * factor, sigma_m=sigma)


def _moved(
    anchors: Anchors, *, scale: tuple[float, float] = (1.0, 1.0), shift: float = 0.0, swap: bool = False
) -> Anchors:
    """Positions exchanged, or scaled about the corner of the first pixel; `shift` makes that of pixel positions."""
    uv, extent = anchors.uv_px, anchors.extent_px
    if swap:
        uv, extent = uv[:, ::-1], None if extent is None else extent[:, ::-1]
    else:
        uv = (uv + shift) * scale - 0.5
        extent = None if extent is None else extent * np.asarray(scale)
    return replace(anchors, uv_px=uv, extent_px=extent)
