"""No network: depth from the anchors and the image's colours alone."""

from dataclasses import dataclass

from mrac.conventions import ImageArray
from mrac.foundation.base import Foundation
from mrac.types import RelativeDepth


@dataclass(frozen=True)
class NoFoundation(Foundation):
    """Gives no relative depth; the baseline that shows what a network adds."""

    def __call__(self, image: ImageArray) -> RelativeDepth | None:
        """See `Foundation`."""
        return None


IMPLEMENTATION = NoFoundation
