"""Short names for published networks, with the space, the size and the licence of the weights of each.

`mrac list foundations` shows it, so nothing here may import more than the standard library. Parameter counts and
spaces are checked by the tests against the architectures themselves, licences are those of the model cards.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Entry:
    """One published network.

    Attributes:
        name: what users type.
        spec: the foundation and its options that it stands for.
        space: of its output.
        parameters: how many are loaded; rounded where its own package states no exact number.
        licence: of the weights, which is not that of the code that runs them.
        trained_on: benchmarks in its training data, on which it is not zero-shot.
    """

    name: str
    spec: str
    space: str
    parameters: int
    licence: str
    trained_on: str = ""

    @property
    def non_commercial(self) -> bool:
        """Whether the licence of the weights excludes commercial use."""
        return "NC" in self.licence or "AMLR" in self.licence

    def row(self) -> tuple[str, ...]:
        """Its row in a table with the columns `COLUMNS`."""
        notes = ["non-commercial"] * self.non_commercial + [f"saw {self.trained_on}"] * bool(self.trained_on)
        count = f"{self.parameters / 1e6:.0f} M"
        return self.name, self.space, count, self.licence, ", ".join(notes)


COLUMNS: Final = ("short name", "space", "size", "weights", "")

_SIZES: Final = {"small": 24_785_089, "base": 97_470_785, "large": 335_315_649}
_V2_LICENCE: Final = {"small": "Apache-2.0", "base": "CC-BY-NC-4.0", "large": "CC-BY-NC-4.0"}
_DA: Final = "hf:depth-anything/Depth-Anything-V2"


def _depth_anything() -> list[Entry]:
    # ONNX Runtime runs the small one, without torch; with torch, which knows GPUs, it has a name of its own.
    small = _SIZES["small"], _V2_LICENCE["small"]
    entries = [Entry("dav2-small", "dav2_small", "inverse_depth", *small)]
    entries += [
        Entry(
            "dav2-small-torch" if size == "small" else f"dav2-{size}",
            f"{_DA}-{size.title()}-hf",
            "inverse_depth",
            count,
            _V2_LICENCE[size],
        )
        for size, count in _SIZES.items()
    ]
    # The model cards of the metric checkpoints state no licence; the repository states one per model size.
    entries += [
        Entry(
            f"dav2-metric-{scene}-{size}",
            f"{_DA}-Metric-{scene.title()}-{size.title()}-hf",
            "depth",
            count,
            _V2_LICENCE[size],
        )
        for scene in ("indoor", "outdoor")
        for size, count in _SIZES.items()
    ]
    entries += [
        Entry(f"dav1-{size}", f"hf:LiheYoung/depth-anything-{size}-hf", "inverse_depth", count, "Apache-2.0")
        for size, count in _SIZES.items()
    ]
    return entries


def _midas() -> list[Entry]:
    seen = "NYU, KITTI"
    mixed = [
        ("dpt-beit-base-384", 110_761_153),
        ("dpt-beit-large-384", 343_311_553),
        ("dpt-beit-large-512", 343_987_393),
        ("dpt-swinv2-tiny-256", 40_930_795),
        ("dpt-swinv2-base-384", 101_351_865),
        ("dpt-swinv2-large-384", 211_871_797),
    ]
    return [
        Entry("dpt-large", "hf:Intel/dpt-large", "inverse_depth", 343_030_465, "Apache-2.0"),
        Entry("dpt-hybrid", "hf:Intel/dpt-hybrid-midas", "inverse_depth", 122_377_985, "Apache-2.0"),
        *(Entry(name, f"hf:Intel/{name}", "inverse_depth", count, "MIT", seen) for name, count in mixed),
        Entry("zoedepth-nyu", "hf:Intel/zoedepth-nyu", "depth", 343_789_698, "MIT", "NYU"),
        Entry("zoedepth-kitti", "hf:Intel/zoedepth-kitti", "depth", 343_789_698, "MIT", "KITTI"),
        Entry("zoedepth-nyu-kitti", "hf:Intel/zoedepth-nyu-kitti", "depth", 345_073_307, "MIT", seen),
    ]


def _others() -> list[Entry]:
    return [
        Entry("depth-pro", "hf:apple/DepthPro-hf", "inverse_depth", 647_731_777, "Apple AMLR"),
        Entry("marigold-v1-1", "marigold:prs-eth/marigold-depth-v1-1", "depth", 1_290_000_000, "OpenRAIL++-M"),
        Entry("marigold-v1-0", "marigold:prs-eth/marigold-depth-v1-0", "depth", 1_290_000_000, "Apache-2.0"),
        Entry("da3-mono", "da3:depth-anything/DA3MONO-LARGE", "depth", 334_171_394, "Apache-2.0"),
        Entry("da3-metric", "da3:depth-anything/DA3METRIC-LARGE", "depth", 350_000_000, "Apache-2.0"),
        Entry("moge-2", "moge:Ruicheng/moge-2-vitl", "depth", 326_000_000, "MIT"),
        Entry("moge-2-base", "moge:Ruicheng/moge-2-vitb-normal", "depth", 104_000_000, "MIT"),
        Entry("moge-2-small", "moge:Ruicheng/moge-2-vits-normal", "depth", 35_000_000, "MIT"),
    ]


CATALOG: Final = {entry.name: entry for entry in (*_depth_anything(), *_midas(), *_others())}
