"""All that the page offers, by name and with a line on each.

The page asks for it first. So nothing here imports more than numpy and Pillow: numba and scipy, which everything else
needs, take two seconds.
"""

from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from mrac import examples, registry
from mrac.io.picture import DEPTH_STOPS, SIGMA_STOPS
from mrac.methods import METHODS
from mrac.sensors import sensor_names
from mrac.version import __version__

BODY_BYTES: Final = 48 << 20  # of an upload
MAX_PIXELS: Final = 24_000_000  # of an uploaded picture, or a depth image
MAX_POOL: Final = 500_000  # readings of an uploaded file
MAX_READINGS: Final = 5_000  # of these, in one calibration
MAX_CLICKED: Final = 500

DEFAULT_KAPPA: Final = 2.0  # the paper's, and that of `mrac.gate.theil_sen_mad`
# What is compared side by side; the method of the last one can be chosen.
COLUMNS: Final = (("vanilla", "No gate"), ("mrac", "The paper"), ("default", "Our default"))

FAMILIES: Final = {
    "near": "Near, as by multipath",
    "uniform": "Uniform: any depth",
    "dropout": "Dropout: maximum range",
    "mixed_pixel": "Mixed pixels, at edges",
}
SOURCES: Final = {
    "table": "table, .npz or sparse depth .png",
    "depth": "depth image",
    "cloud": "point cloud, with a camera file",
    "zones": "zones of a time-of-flight sensor",
    "scan": "laser scan, with camera and pose",
    "colmap": "COLMAP model: its three files",
}
ARCHIVE: Final = "mrac-result.zip"
FILES: Final = {
    ARCHIVE: "all of these",
    "depth.npz": "depth_m, sigma_m and verdicts, float32, metres",
    "depth.png": "16 bit, its scale stated inside",
    "points.ply": "coloured points with sigma_m",
    "preview.png": "photo, depth and deviation to look at",
    "report.json": "status, fit, verdicts, warnings, versions",
    "anchors.csv": "the readings that were used",
    "anchors.npz": "the readings that were used, with their areas",
    "image.png": "the picture",
    "calibrate.py": "the Python lines below",
}
_TITLES: Final = {"motorcycle": "Motorcycle, photograph", "room": "Room, rendered", "street": "Street, rendered"}
_NEEDS: Final = {"motorcycle": "skimage"}  # packages that carry an example


def example_names() -> dict[str, str]:
    """Names with titles of the examples that can be loaded here, the photograph first."""
    there = [name for name in examples.names() if name not in _NEEDS or find_spec(_NEEDS[name]) is not None]
    return {name: _TITLES.get(name, name) for name in sorted(there, key=lambda name: name not in _NEEDS)}


@cache
def foundations() -> tuple[str, ...]:
    """Those that can run here without a download."""
    has_weights = registry.create("foundation", "dav2-small").identity is not None  # `mrac fetch` got them
    return ("embedded", "none", *(["dav2-small"] if has_weights else []))


def method_names(foundation: str | None) -> tuple[str, ...]:
    """Methods whose network can run here, or all where the server was started with one in its place."""
    there = foundations()
    return tuple(name for name, one in METHODS.items() if foundation or one.foundation.partition(":")[0] in there)


def offered(foundation: str | None) -> dict[str, Any]:
    """What the page's controls offer, of a server with this foundation in place of every method's own."""
    return {
        "version": __version__,
        "examples": [{"name": name, "title": title} for name, title in example_names().items()],
        "families": FAMILIES,
        "sources": SOURCES,
        "sensors": sensor_names(),
        "methods": [{"name": name, "summary": METHODS[name].summary} for name in method_names(foundation)],
        "foundations": [{"name": name, "summary": _summary(name)} for name in foundations()],
        "own_foundation": foundation or "",
        "columns": [{"method": name, "title": title} for name, title in COLUMNS],
        "kappa": DEFAULT_KAPPA,
        "depth_stops": DEPTH_STOPS,
        "sigma_stops": SIGMA_STOPS,
        "downloads": [{"name": name, "text": text} for name, text in FILES.items()],
        "limits": {
            "readings": MAX_READINGS,
            "clicked": MAX_CLICKED,
            "pixels": MAX_PIXELS,
            "body_bytes": BODY_BYTES,
        },
    }


def _summary(foundation: str) -> str:
    return registry.summary("foundation", foundation.replace("-", "_"))
