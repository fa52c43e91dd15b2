"""At which size VI-Depth's networks see a frame, and the cubic interpolation that takes maps there and back."""

from dataclasses import dataclass
from typing import Final, Literal

from mrac.conventions import FloatArray
from mrac.foundation._sampling import cubic_taps, sample

_MULTIPLE: Final = 32  # the networks halve their input five times


@dataclass(frozen=True, kw_only=True)
class ResizeRule:
    """From the size of a frame to that of a network's input.

    Attributes:
        target_px: the side of the square that the rule aims at.
        keep_aspect: whether both sides are scaled alike, up to rounding each to a multiple of 32.
        method: by which of the two factors then: `minimal` takes the one nearer to 1, `upper_bound` the smaller one,
            and lets no side exceed the target.
    """

    target_px: int = 384
    keep_aspect: bool = True
    method: Literal["minimal", "upper_bound"] = "minimal"

    def shape(self, frame: tuple[int, int]) -> tuple[int, int]:
        """(h, w), multiples of 32, for a frame of (H, W).

        At 24 : 1 and beyond VI-Depth's short side becomes 0 and it fails; ours stays at 32.
        """
        height, width = frame
        by_height, by_width = self.target_px / height, self.target_px / width
        if self.keep_aspect:
            both = (by_height, by_width)  # of equals, the first is taken
            by_height = by_width = min(both) if self.method == "upper_bound" else min(both, key=lambda f: abs(1 - f))
        return self._side(by_height * height), self._side(by_width * width)

    def _side(self, length: float) -> int:
        side = round(length / _MULTIPLE) * _MULTIPLE
        if self.method == "upper_bound" and side > self.target_px:
            side = int(length / _MULTIPLE) * _MULTIPLE
        return max(side, _MULTIPLE)


LEARNER_RULE: Final = ResizeRule(method="upper_bound")


def resize_cubic(values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """An (H, W) map at `shape` (h, w), float32; not antialiased, and overshooting at edges, as the networks know it."""
    return sample(values, cubic_taps(values.shape[0], shape[0]), cubic_taps(values.shape[1], shape[1]))
