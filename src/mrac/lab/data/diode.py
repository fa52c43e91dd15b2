"""DIODE, validation: 325 indoor and 446 outdoor frames of 768 × 1024 with a mask of valid laser depth, to 80 m."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.arrays import read_array
from mrac.lab.data.base import About, Dataset, Entry, Rules
from mrac.registry import check_numbers

# Counted in the archive. The devkit's diode_meta.json lists fewer, so folders are searched and it is not read.
_COUNTS: Final = {"": 771, "indoors": 325, "outdoor": 446}


@dataclass(frozen=True)
class Diode(Dataset):
    """Outdoor truth has a halo of wrong depth at edges, which dominates AbsRel: look at the two parts apart.

    Attributes:
        part: `indoors`, `outdoor`, or empty for both.
        min_depth_m: scored from here; Marigold has 0.6.
        max_depth_m: scored up to here; the paper has 80, Marigold 350.
    """

    about = About(
        source="https://diode-dataset.org (val.tar.gz, 2.6 GB, md5 5c895d09201b88973c8fe4552a67dd85)",
        layout="val/{indoors,outdoor}/scene_*/scan_*/<frame>.png, <frame>_depth.npy, <frame>_depth_mask.npy",
        markers=("val/indoors/", "val/outdoor/"),
    )

    part: str = ""
    min_depth_m: float = 1e-3
    max_depth_m: float = 80.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_choice("part", tuple(_COUNTS))
        check_numbers(self, 1e-3, 1e4)

    @property
    def name(self) -> str:
        """`diode`, or with the part."""
        return f"diode_{self.part}" if self.part else "diode"

    @property
    def expected(self) -> int:
        """As counted."""
        return _COUNTS[self.part]

    @property
    def rules(self) -> Rules:
        """No crop; dropouts say 80 m in both parts."""
        return Rules(min_depth_m=self.min_depth_m, max_depth_m=self.max_depth_m, max_range_m=80.0)

    @classmethod
    def sets_in(cls, folder: Path) -> list[Self]:
        """The two parts, as far as they are there."""
        parts = [part for part in _COUNTS if part and (folder / "val" / part).is_dir()]
        return [cls(folder, part) for part in parts] or [cls(folder)]

    def find(self) -> Iterable[Entry]:
        """See `Dataset`."""
        for part in [self.part] if self.part else [part for part in _COUNTS if part]:
            images = sorted((self.folder / "val" / part).glob("scene_*/scan_*/*.png"))
            if not images:
                raise self.missing(f"val/{part}")
            for image in images:
                beside = {role: image.with_name(f"{image.stem}_{role}.npy") for role in ("depth", "depth_mask")}
                yield Entry(image.stem, image.parts[-3], {"image": image, **beside})

    def read_truth(self, entry: Entry) -> FloatArray:
        """See `Dataset`."""
        depth_m, mask = read_array(entry.files["depth"]), read_array(entry.files["depth_mask"])
        if depth_m.shape[2:] == (1,):
            depth_m = depth_m[..., 0]
        if depth_m.ndim != 2 or depth_m.shape != mask.shape:
            raise ContractError(
                f"datasets/diode: {entry.files['depth']} is of shape {depth_m.shape}, its mask {mask.shape}; (H, W, 1) "
                "and (H, W) are needed"
            )
        return np.where(mask > 0, depth_m, np.float32(np.nan))


IMPLEMENTATION = Diode
