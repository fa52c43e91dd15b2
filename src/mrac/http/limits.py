"""How large a request may be and how long it may take."""

from dataclasses import dataclass

from mrac.registry import check_numbers


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a server accepts; beyond it a request is refused before memory or time is spent on it.

    Attributes:
        body_bytes: of a request, all files together, as sent.
        pixels: of the image, and of a depth image; also the most points of a cloud.
        anchors: readings of a request.
        seconds: for the body to arrive; and again from then to the answer, waiting included.
    """

    body_bytes: int = 32 * 2**20
    pixels: int = 16_000_000
    anchors: int = 10_000
    seconds: float = 60.0

    def __post_init__(self) -> None:
        check_numbers(self, 1, 2**40, only=("body_bytes", "pixels", "anchors"))
        check_numbers(self, 1e-3, 86_400.0, only=("seconds",))

    @property
    def expanded_bytes(self) -> int:
        """Of all arrays of a compressed file together, once expanded: sixteen for each pixel."""
        return 16 * self.pixels
