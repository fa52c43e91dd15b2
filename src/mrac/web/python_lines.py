"""The Python lines that give the same result as the page, from the files that it lets one download."""

from mrac.anchors import Anchors
from mrac.camera import Camera


def anchors_file(anchors: Anchors) -> str:
    """The file that holds them to the bit: a table, but for readings of areas, which a table has no columns for."""
    return "anchors.csv" if anchors.extent_px is None else "anchors.npz"


def python_lines(arguments: dict[str, str], anchors: Anchors, camera: Camera, camera_is_known: bool) -> str:
    """A script that reads `image.png` and the readings, and writes `depth.npz` and `points.ply`.

    Args:
        arguments: of `Calibrator`.
        anchors: the readings.
        camera: of the points.
        camera_is_known: it is then given to the calibrator too, which notices more mistakes with it.
    """
    more = {name: value for name, value in arguments.items() if name != "method"}
    method = arguments["method"]
    shown = ", ".join(([] if method == "default" else [repr(method)]) + [f"{k}={v!r}" for k, v in more.items()])
    given = ", camera=camera" if camera_is_known else ""
    note = "" if camera_is_known else "  # assumed: give your own for true proportions"
    return "\n".join(
        (
            "from mrac import Calibrator, Camera, read_anchors, read_image",
            "",
            'image = read_image("image.png")',
            f'anchors = read_anchors("{anchors_file(anchors)}")',
            *_camera(camera, note),
            f"out = Calibrator({shown})(image, anchors{given})",
            'out.save("depth.npz")',
            'out.save("points.ply", image=image, camera=camera)',
            "",
        )
    )


def _camera(camera: Camera, note: str) -> tuple[str, ...]:
    names = ["fx_px", "fy_px", "cx_px", "cy_px", "width", "height"]
    if camera.model != "pinhole":
        names += ["model", "distortion"]
    given = (f"    {name}={getattr(camera, name)!r}," for name in names)
    return f"camera = Camera({note}", *given, ")"
