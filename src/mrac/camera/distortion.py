"""Lens distortion as OpenCV defines it: radtan (Brown–Conrady), rational and fisheye, and its inverse by iteration.

All functions work on the plane z = 1. The radial part is d = r · g(r²), g a polynomial or a quotient of two; of a
fisheye lens r is the angle off the axis in radians. It rises only up to some r: beyond, where calibration saw nothing,
the polynomial bends back, and points far outside the view would land inside the image. Such points are NaN here, in
both directions (OpenCV returns the false position).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from mrac.conventions import FloatArray

NUM_COEFFICIENTS: Final = {"pinhole": (0,), "radtan": (4, 5), "rational": (8,), "fisheye": (4,)}
_NEWTON_STEPS: Final = 50
_CONVERGED: Final = 1e-10  # on the plane z = 1: a ten-millionth of a pixel at a focal length of 1000 px
_EXACT: Final = 1e-14  # further steps change nothing


@dataclass(frozen=True)
class Lens:
    """Coefficients in the order of the formula d = r · g(r²), and the largest r up to which d rises.

    Attributes:
        numerator: of g, lowest power first; the first is 1.
        denominator: of g, likewise.
        tangential: p1, p2.
        limit: radius on the plane z = 1, or angle of a fisheye lens; may be infinite.
        angular: r is the angle off the axis.
    """

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]
    tangential: tuple[float, float]
    limit: float
    angular: bool

    def gain(self, s: FloatArray) -> FloatArray:
        """The value of g at s = r²."""
        numerator = np.polynomial.polynomial.polyval(s, self.numerator)
        if len(self.denominator) == 1:
            return np.asarray(numerator)
        return np.asarray(numerator / np.polynomial.polynomial.polyval(s, self.denominator))

    def gain_slope(self, s: FloatArray) -> FloatArray:
        """The slope dg/ds at s = r²."""
        poly = np.polynomial.polynomial
        dn = poly.polyval(s, poly.polyder(self.numerator))
        if len(self.denominator) == 1:
            return np.asarray(dn)
        n, d = poly.polyval(s, self.numerator), poly.polyval(s, self.denominator)
        return np.asarray((dn * d - n * poly.polyval(s, poly.polyder(self.denominator))) / (d * d))


@lru_cache(maxsize=64)
def lens(model: str, coefficients: tuple[float, ...]) -> Lens | None:
    """The lens of a model and its coefficients in OpenCV's order; None: no distortion at all."""
    if model == "pinhole":
        return None
    denominator: tuple[float, ...] = (1.0,)
    tangential = (0.0, 0.0)
    if model == "fisheye":
        numerator = (1.0, *coefficients)
    else:
        k1, k2, p1, p2, *more = coefficients
        tangential = (p1, p2)
        numerator = (1.0, k1, k2, *more[:1])
        denominator = (1.0, *more[1:])
    limit = _rising_until(numerator, denominator)
    return Lens(numerator, denominator, tangential, limit, model == "fisheye")


def _rising_until(numerator: tuple[float, ...], denominator: tuple[float, ...]) -> float:
    """The first r > 0 at which r · N(r²) / D(r²) stops rising or has a pole."""
    n, d = np.array(numerator), np.array(denominator)
    # In powers of s = r²: d/dr of r·N is N + 2s·N', and r · d/dr of D is 2s·D'.
    slope = np.convolve(n * (1 + 2 * np.arange(n.size)), d) - np.convolve(n, d * 2 * np.arange(d.size))
    roots = np.concatenate([_positive_roots(slope), _positive_roots(d)])
    return float(np.sqrt(roots.min())) if roots.size else np.inf


def _positive_roots(coefficients: FloatArray) -> FloatArray:
    """Roots > 0 of a polynomial, lowest power first, that is 1 at 0; those above 1e12 are left out."""
    # Solved for 1 / s: the leading coefficient is then 1, and a last one of 1e-23 spoils no other root.
    inverse = np.polynomial.polynomial.polyroots(coefficients[::-1])
    return 1.0 / inverse.real[(np.abs(inverse.imag) <= 1e-9 * np.abs(inverse)) & (inverse.real > 1e-12)]


def distort(lens: Lens, xy: FloatArray) -> FloatArray:
    """(N, 2) of the plane z = 1 → (N, 2) as the lens shows them; NaN beyond the lens's limit."""
    if lens.angular:
        radius = np.hypot(xy[:, 0], xy[:, 1])
        angle = np.arctan(radius)
        bent = np.where(angle < lens.limit, angle * lens.gain(angle * angle), np.nan)
        return xy * np.where(radius > 0, bent / np.where(radius > 0, radius, 1.0), 1.0)[:, None]
    return _distort_plane(lens, xy)


def _distort_plane(lens: Lens, xy: FloatArray) -> FloatArray:
    (x, y), (p1, p2) = xy.T, lens.tangential
    s = x * x + y * y
    g = np.where(s < lens.limit * lens.limit, lens.gain(s), np.nan)
    return np.stack(
        [x * g + 2 * p1 * x * y + p2 * (s + 2 * x * x), y * g + p1 * (s + 2 * y * y) + 2 * p2 * x * y], axis=1
    )


def undistort(lens: Lens, seen: FloatArray) -> FloatArray:
    """The inverse of `distort`, (N, 2) → (N, 2): NaN where no point within the lens's limit is seen at a place."""
    distance = np.hypot(seen[:, 0], seen[:, 1])
    radius = _undistorted_radius(lens, distance)
    with np.errstate(invalid="ignore"):
        reached = np.tan(np.where(radius < np.pi / 2, radius, np.nan)) if lens.angular else radius
    xy = seen * np.where(distance > 0, reached / np.where(distance > 0, distance, 1.0), 1.0)[:, None]
    if lens.angular or lens.tangential == (0.0, 0.0):
        return xy
    return _newton(lens, seen, xy)


def _undistorted_radius(lens: Lens, distance: FloatArray) -> FloatArray:
    """The r with r · g(r²) = distance by Newton's method inside a bracket; NaN where there is none.

    With tangential coefficients it is the start of `_newton`, which may still succeed a little beyond the radial reach:
    there it is near the limit.
    """
    top = min(lens.limit, np.pi / 2) if lens.angular else lens.limit
    low, high = np.zeros_like(distance), np.full_like(distance, top)
    with np.errstate(all="ignore"):
        if not np.isfinite(top):
            high = 2 * np.maximum(distance, 1.0)
            for _ in range(20):
                short = high * lens.gain(high * high) < distance
                if not short.any():
                    break
                high = np.where(short, 2 * high, high)
        high *= 1 - 1e-12  # the limit itself may be a pole
        reachable = high * lens.gain(high * high) >= distance
        rough = lens.tangential != (0.0, 0.0)
        beyond = 0.9 * high if rough else np.nan
        target = np.where(reachable, distance, np.nan)
        r = np.minimum(distance, 0.5 * high)
        for _ in range(_NEWTON_STEPS):
            s = r * r
            g = lens.gain(s)
            error = r * g - target
            if np.nanmax(np.abs(error), initial=0.0) < (1e-3 if rough else _EXACT):
                break
            low, high = np.where(error < 0, r, low), np.where(error < 0, high, r)
            step = r - error / (g + 2 * s * lens.gain_slope(s))
            r = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        found = np.abs(r * lens.gain(r * r) - target) <= (1e-2 if rough else _CONVERGED) * np.maximum(1.0, distance)
        return np.where(found, r, np.where(reachable | ~np.isfinite(distance), np.nan, beyond))


def _newton(lens: Lens, seen: FloatArray, start: FloatArray) -> FloatArray:
    """Newton's method in the plane, from a point that is right but for the tangential part."""
    xy = start.copy()
    left = np.flatnonzero(np.isfinite(xy).all(axis=1))  # few need many steps, those near the limit
    with np.errstate(all="ignore"):
        for _ in range(_NEWTON_STEPS):
            at = xy[left]
            step = _newton_step(lens, at, _distort_plane(lens, at) - seen[left])
            moved = at - step
            # Beyond the limit nothing is defined, so a step goes at most half of the way to it.
            farthest = 0.5 * (np.linalg.norm(at, axis=1) + lens.limit)
            moved *= np.minimum(1.0, farthest / np.linalg.norm(moved, axis=1).clip(1e-300))[:, None]
            xy[left] = moved
            left = left[np.abs(step).max(axis=1, initial=0.0) > _EXACT]
            if not left.size:
                break
        error = np.abs(_distort_plane(lens, xy) - seen).max(axis=1, initial=0.0)
        found = error <= _CONVERGED * np.maximum(1.0, np.abs(seen).max(axis=1, initial=0.0))
    return np.where(found[:, None], xy, np.nan)


def _newton_step(lens: Lens, xy: FloatArray, error: FloatArray) -> FloatArray:
    """The Jacobian's inverse times the error, (N, 2); the Jacobian of this distortion is symmetric."""
    (x, y), (p1, p2) = xy.T, lens.tangential
    s = x * x + y * y
    g, slope = lens.gain(s), lens.gain_slope(s)
    xx = g + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x
    yy = g + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x
    xy_ = 2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
    raw = np.stack([yy * error[:, 0] - xy_ * error[:, 1], xx * error[:, 1] - xy_ * error[:, 0]], axis=1)
    return np.asarray(raw / (xx * yy - xy_ * xy_)[:, None])
