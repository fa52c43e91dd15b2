"""How figures look and how they are kept: one colour per method everywhere, safe for colour-blind readers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mrac.errors import MissingExtra
from mrac.io.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

INK: Final = "#1f2328"
GREY: Final = "#6b7280"
GRID: Final = "#e3e5e8"
BLUE, SKY, GREEN, ORANGE, RED, PINK, BROWN = (
    "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#8c6d46",
)  # fmt: skip
# Okabe and Ito's, with marks and dashes beside them: no two methods differ in hue alone. B′ follows vanilla closely
# everywhere, so the one is thin and dashed upon the other, which is broad.
_BROAD: Final = {"vanilla": 3.4}
_THIN: Final = 7.0  # size of marks that are lines: as small as the others they cannot be seen
_METHODS: Final = {
    "default": (INK, "o", "-"),
    "fast": (INK, "o", ":"),
    "open": (INK, "o", "--"),
    "mrac_b_prime": (BLUE, "s", "-"),
    "mrac": (GREEN, "^", "-"),
    "vanilla": (ORANGE, "v", "-"),
    "b_prime": (SKY, "D", "--"),
    "sml_retrained": (RED, "X", "-."),
    "vi_depth": (RED, "P", "-."),
    "ransac_residual": (PINK, "p", "--"),
    "raw_depth": (BROWN, "h", ":"),
    "cfa_ols": (GREY, "1", ":"),
    "cfa_huber": (GREY, "2", ":"),
    "cfa_ransac": (GREY, "3", ":"),
    "vi_depth_ga": (PINK, "4", ":"),
    "vi_depth_scaffold": (PINK, "X", ":"),
    "ransac_inverse": (BROWN, "^", ":"),
    "knn_alignment": (SKY, "P", ":"),
    "truncated_l1": (ORANGE, "D", ":"),
    "siegel": (BLUE, "1", "--"),
    "gnc": (BLUE, "2", "--"),
    "msac": (BLUE, "3", "--"),
    "poisson_log": (GREEN, "s", ":"),
    "patch_scale": (GREEN, "p", ":"),
    "delaunay": (GREY, "^", "--"),
    "nearest": (GREY, "v", "--"),
}
_CYCLE: Final = (BLUE, RED, GREEN, ORANGE, PINK, SKY, BROWN, INK)
_MARKS: Final = "osX^Dvph"
_RC: Final[Any] = {
    "font.family": "DejaVu Sans",  # it comes with matplotlib: the same on every machine
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "mrac",
    "pdf.fonttype": 42,
}
_DPI: Final = 160
_COLOURS: Final = 128
KINDS: Final = ("png", "svg", "pdf")
"""Of files that a figure is written as."""


@dataclass(frozen=True)
class Figure:
    """A figure that has not been drawn yet.

    Attributes:
        key: its file name.
        title: of its section.
        about: what it shows, and how it compares with the paper's.
        draw: makes it.
        has_photos: it shows images of a data set: subject to that set's terms, and not to be committed or published
            unless these allow it.
    """

    key: str
    title: str
    about: str
    draw: Callable[[], "Canvas"]
    has_photos: bool = False


@dataclass(frozen=True)
class Saved:
    """A figure on the disk.

    Attributes:
        figure: which.
        paths: PNG first, then SVG (not of photographs) and PDF.
    """

    figure: Figure
    paths: tuple[Path, ...]


def style(name: str, index: int = 0) -> dict[str, Any]:
    """Colour, mark and line of a method; of anything else, by its place."""
    known = _METHODS.get(name.partition(";")[0])
    if known is None or ";" in name:
        known = (_CYCLE[index % len(_CYCLE)], _MARKS[index % len(_MARKS)], "-")
    look: dict[str, Any] = dict(zip(("color", "marker", "linestyle"), known, strict=True))
    look |= {"markersize": _THIN} if look["marker"] in "1234" else {}
    return look | ({"linewidth": _BROAD[name]} if name in _BROAD else {})


def new_canvas(width_in: float, height_in: float) -> "Canvas":
    """An empty figure, laid out so that nothing overlaps; without pyplot, which would keep it for ever."""
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

    return Canvas(figsize=(width_in, height_in), layout="constrained")


@contextmanager
def house_look() -> Iterator[None]:
    """Whatever is drawn and saved inside looks like one report.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("bench report: figures", "lab") from None
    with mpl.rc_context():
        mpl.rcdefaults()  # not the user's own, which would make another figure of it
        mpl.rcParams.update(_RC)
        yield


def save(figure: Figure, folder: Path, kinds: Sequence[str] = KINDS) -> Saved:
    """Draws a figure and writes it, the same bytes every time.

    Args:
        figure: what.
        folder: where.
        kinds: as which of `KINDS`; photographs are no drawings, and never SVG.
    """
    paths = []
    with house_look():
        canvas = figure.draw()
        for kind in (kind for kind in kinds if kind != "svg" or not figure.has_photos):
            metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
            path = folder / f"{figure.key}.{kind}"

            def write(file: Any, kind: str = kind, metadata: Any = metadata) -> None:
                canvas.savefig(file, format=kind, dpi=_DPI, metadata=metadata)

            write_whole(path, write)
            if kind == "png" and not figure.has_photos:
                _shrink(path)
            paths.append(path)
    return Saved(figure, tuple(paths))


def _shrink(path: Path) -> None:
    """A drawing has few colours: with a palette of them it takes a third of the room, and looks the same."""
    from PIL import Image  # noqa: PLC0415

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    write_whole(path, lambda file: small.save(file, format="PNG", optimize=True))
