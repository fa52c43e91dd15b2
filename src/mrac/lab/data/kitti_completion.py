"""KITTI depth completion, selected validation: 1000 frames of 352 × 1216 with their raw LiDAR, all truth scored."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mrac.anchors import Anchors
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.lab.data._decode import map_readings, read_depth_png
from mrac.lab.data.base import About, Dataset, Entry, Rules
from mrac.registry import check_numbers

_IMAGE = re.compile(r"(?P<drive>.+)_image_(?P<frame>\d{10})_(?P<camera>image_0[23])$")


@dataclass(frozen=True)
class KittiCompletion(Dataset):
    """`velodyne_raw` is one real scan with its see-through errors: points behind an edge that hides them.

    Attributes:
        max_depth_m: scored up to here; the benchmark has no cap, and its PNGs end before 256 m.
    """

    about = About(
        source="https://www.cvlibs.net/datasets/kitti/eval_depth.php?benchmark=depth_completion "
        "(data_depth_selection.zip, 2 GB)",
        layout="depth_selection/val_selection_cropped/{image,velodyne_raw,groundtruth_depth}/"
        "<drive>_{image,velodyne_raw,groundtruth_depth}_<frame>_image_0<c>.png",
        markers=("depth_selection/val_selection_cropped/", "val_selection_cropped/"),
    )

    max_depth_m: float = 256.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, 1e-3, 1e4)

    @property
    def expected(self) -> int:
        """As the benchmark says."""
        return 1000

    @property
    def rules(self) -> Rules:
        """No crop; the sensor ends at 80 m."""
        return Rules(max_depth_m=self.max_depth_m, max_range_m=80.0)

    def find(self) -> Iterable[Entry]:
        """See `Dataset`."""
        root = self.folder / "depth_selection" / "val_selection_cropped"
        root = root if root.is_dir() else self.folder / root.name
        images = sorted((root / "image").glob("*.png"))
        if not images:
            raise self.missing("depth_selection/val_selection_cropped/image")
        for image in images:
            name = _IMAGE.match(image.stem)
            if name is None:
                raise ContractError(
                    f"datasets/kitti_completion: {image}: <drive>_image_<10 digits>_image_0<2 or 3>.png is needed"
                )
            drive, rest = name["drive"], f"{name['frame']}_{name['camera']}"
            files = {kind: root / kind / f"{drive}_{kind}_{rest}.png" for kind in ("groundtruth_depth", "velodyne_raw")}
            yield Entry(f"{drive}_{rest}", drive, {"image": image, **files})

    def read_truth(self, entry: Entry) -> FloatArray:
        """See `Dataset`."""
        return read_depth_png(entry.files["groundtruth_depth"], 256.0)

    def sources(self, entry: Entry) -> tuple[str, ...]:
        """`velodyne_raw`."""
        return ("velodyne_raw",)

    def read_readings(self, entry: Entry, source: str, shape: tuple[int, int]) -> Anchors:
        """See `Dataset`."""
        return map_readings(read_depth_png(entry.files[source], 256.0), shape)


IMPLEMENTATION = KittiCompletion
