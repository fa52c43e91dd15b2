"""Relative depth from a file: .npz, .npy or 16-bit .png."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.foundation.base import Foundation
from mrac.io.arrays import read_array, read_arrays
from mrac.io.files import read_png16, user_path
from mrac.relative import resize_field
from mrac.space import as_space
from mrac.types import RelativeDepth


@dataclass(frozen=True)
class Precomputed(Foundation):
    """Reads relative depth that a network has written before.

    An .npz holds `values` (H, W) and, optionally, `space`; .npy and .png hold the values alone. A field of another
    size but the image's aspect ratio is resampled bilinearly. In a .png of depth or log depth, 0 means "no
    prediction"; in one of inverse depth it is a value like any other, infinitely far.

    Attributes:
        path: the file.
        space: of its values. Empty: what the .npz states, else `inverse_depth`, which is what Depth Anything, MiDaS and
            DPT write.
    """

    path: str
    space: str = ""

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: the file is missing, unreadable, or of another aspect ratio than the image.
        """
        values, stated = self._read()
        space = as_space(self.space or stated or "inverse_depth")
        if Path(self.path).suffix.lower() == ".png" and space != "inverse_depth":
            values = np.where(values > 0, values, np.nan)
        relative = RelativeDepth(values, space)
        (h, w), (H, W) = relative.values.shape, image.shape[:2]
        # One pixel of rounding in the smaller map is what resizing tools leave behind.
        if abs(h * W - w * H) > max(H, W):
            raise ContractError(
                f"foundation/precomputed: {self.path} is {w}×{h} (width × height), the image {W}×{H}; "
                "the same aspect ratio is needed"
            )
        return RelativeDepth(resize_field(relative.values, (H, W)), relative.space)

    def _read(self) -> tuple[NDArray[Any], str]:
        path = user_path(self.path)
        suffix = path.suffix.lower()
        if suffix == ".npz":
            arrays = read_arrays(path, needed=("values",), optional=("space",))
            return arrays["values"], str(arrays["space"]) if "space" in arrays else ""
        if suffix == ".npy":
            return read_array(path), ""
        if suffix == ".png":
            return read_png16(path)[0], ""
        raise ContractError(f"foundation/precomputed: {path} ends in {suffix!r}; .npz, .npy or .png is needed")


IMPLEMENTATION = Precomputed
