"""How figures look and how they are kept: one colour per method everywhere, safe for colour-blind readers."""

from collections.abc import Callable, Iterator
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
_METHODS: Final = {
    "default": (INK, "o", "-"),
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
    look = dict(zip(("color", "marker", "linestyle"), known, strict=True))
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
        raise MissingExtra("bench report: figures", "bench") from None
    with mpl.rc_context():
        mpl.rcdefaults()  # not the user's own, which would make another figure of it
        mpl.rcParams.update(_RC)
        yield


def save(figure: Figure, folder: Path) -> Saved:
    """Draws a figure and writes it as PNG, PDF and, unless it shows photographs, SVG; the same bytes every time."""
    paths = []
    with house_look():
        canvas = figure.draw()
        for kind in ("png", "pdf") if figure.has_photos else ("png", "svg", "pdf"):
            metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
            path = folder / f"{figure.key}.{kind}"

            def write(file: Any, kind: str = kind, metadata: Any = metadata) -> None:
                canvas.savefig(file, format=kind, dpi=_DPI, metadata=metadata)

            write_whole(path, write)
            paths.append(path)
    return Saved(figure, tuple(paths))
