"""From a submission to a frame: the image, the readings of any sensor, and what was chosen."""

import json
import math
import re
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from mrac.anchors import Anchors
from mrac.anchors.sources import SOURCES, SourceOptions, read_source
from mrac.camera import Camera, read_camera, read_pose
from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.http.choices import Choices
from mrac.http.errors import TooLargeError, UnsupportedError
from mrac.http.expansion import check_file, check_picture
from mrac.http.limits import Limits
from mrac.http.submission import FILES, Submission, Upload
from mrac.io.image import read_image
from mrac.pipeline import Calibrator
from mrac.result import MetricDepth
from mrac.result.inputs import fitted_camera
from mrac.sensors import Sensor, sensor, sensor_names

KINDS: Final = tuple(kind for kind in SOURCES if kind != "colmap")  # that one is a folder
SUFFIXES: Final = (
    *(".csv", ".txt", ".tsv", ".npz", ".png", ".tif", ".tiff", ".exr", ".npy", ".json"),
    *(".ply", ".pcd", ".las", ".laz", ".pcd.bin", ".bin", ".xyz", ".asc", ".yaml", ".yml"),
)
"""Of files that are read; the rest of a client's file name is never used."""
SOURCE_FIELDS: Final = (
    *("from", "anchors_scale", "camera_name", "fov", "turned", "mirrored", "sensor", "max_anchors", "fix"),
)
ANSWER_FIELDS: Final = ("format", "maps")
FIELDS: Final = (*(field.name for field in fields(Choices)), *SOURCE_FIELDS, *ANSWER_FIELDS)
"""All that a request may say besides its files."""
_SMALL: Final = 1 << 20  # bytes of a camera or a pose
_OPTION: Final = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


@dataclass(frozen=True, eq=False)
class Frame:
    """A request, ready to be calibrated.

    Attributes:
        image: (H, W, 3) uint8 RGB.
        anchors: the readings, in metres.
        camera: of the image, if one was sent.
        sensor: whose noise and range the readings have, if one was named.
        choices: method and stages.
        fixes: names of mistakes to put right first; see `mrac.checks`.
        fields: all fields, for `format` and `maps`.
    """

    image: ImageArray
    anchors: Anchors
    camera: Camera | None
    sensor: Sensor | None
    choices: Choices
    fixes: tuple[str, ...]
    fields: dict[str, str]


def calibrated(calibrator: Calibrator, frame: Frame) -> tuple[MetricDepth, Anchors]:
    """The result, and the readings as they were used."""
    anchors = frame.anchors
    if frame.fixes:
        anchors = calibrator.fixed(frame.image, anchors, frame.fixes, camera=frame.camera)
    anchors = anchors if frame.sensor is None else frame.sensor.apply(anchors)
    return calibrator(frame.image, anchors, camera=frame.camera), anchors


def read_frame(submission: Submission, limits: Limits) -> Frame:
    """Decodes image and readings; what would grow beyond the limits is refused before. For a worker thread.

    Raises:
        ContractError: a part is missing, broken, or contradicts another.
        RequestError: too large (413), or of a format that is not read (415).
    """
    files, given = submission.files, submission.fields
    unknown = [name for name in (*files, *given) if name not in (*FILES, *FIELDS)]
    if unknown:
        raise ContractError(f"request: {unknown[0][:40]!r} is not known; known are {', '.join((*FILES, *FIELDS))}")
    for name in ("image", "anchors"):
        if name not in files:
            raise ContractError(f"request: no {name}; a file `image` and readings `anchors` are needed")
    image = read_picture(files["image"], limits)
    anchors, camera, preset = read_readings(submission, (image.shape[0], image.shape[1]), limits)
    choices = Choices(**{field.name: given.get(field.name) or None for field in fields(Choices)})
    fixes = tuple(name.strip() for name in given.get("fix", "").split(",") if name.strip())
    return Frame(image, anchors, camera, preset, choices, fixes, given)


def read_picture(upload: Upload, limits: Limits) -> ImageArray:
    """(H, W, 3) uint8 RGB of an uploaded picture, whose size by its header is checked first.

    Raises:
        ContractError: it is broken.
        RequestError: too large (413), or of a format that is not read (415).
    """
    check_picture(upload.content, "image", limits)
    return read_image("image", upload.content)


def read_readings(
    submission: Submission, shape: tuple[int, int], limits: Limits
) -> tuple[Anchors, Camera | None, Sensor | None]:
    """The readings of a submission for an image of `shape` (H, W), its camera if one was sent, the sensor it names.

    Raises:
        ContractError: a part is missing, broken, or contradicts another.
        RequestError: too large (413), or of a format that is not read (415).
    """
    given = submission.fields
    preset = _preset(given["sensor"]) if given.get("sensor") else None
    with tempfile.TemporaryDirectory(prefix="mrac-") as folder:
        try:
            anchors, camera = _readings(Path(folder), submission, shape, preset, limits)
        except ContractError as error:
            raise ContractError(_for_clients(str(error), folder)) from None
        except (RecursionError, OverflowError, UnicodeError) as error:
            raise ContractError(f"anchors: not readable ({type(error).__name__})") from None
        except MemoryError:
            raise TooLargeError("anchors: they need more memory than there is; send fewer") from None
    check_count(len(anchors), limits)
    return anchors, camera, preset


def _preset(name: str) -> Sensor:
    """A sensor of the package's own table: `sensor` also takes the path of a file, and files of ours are not theirs."""
    if name not in sensor_names():
        raise ContractError(f"sensor: {name[:40]!r} arrived; one of {', '.join(sensor_names())} is needed")
    return sensor(name)


def _for_clients(message: str, folder: str) -> str:
    """A reader's message without our folder, and with fields where it names options of the command line."""
    plain = message.replace(f"{folder}/", "")
    return _OPTION.sub(lambda found: f"the field {found[1].replace('-', '_')}", plain)


def check_count(num: int, limits: Limits) -> None:
    """Raises `TooLargeError` for more readings than the limit."""
    if num > limits.anchors:
        raise TooLargeError(
            f"anchors: {num:,} arrived; at most {limits.anchors:,} are read. Of a depth image or a cloud, the field "
            "max_anchors takes some, spread evenly"
        )


def _readings(
    folder: Path, submission: Submission, shape: tuple[int, int], preset: Sensor | None, limits: Limits
) -> tuple[Anchors, Camera | None]:
    files, given = submission.files, submission.fields
    height, width = shape
    kind = given.get("from", "")
    if kind and kind not in KINDS:
        raise ContractError(f"from: {kind[:40]!r} arrived; one of {', '.join(KINDS)} is needed")
    paths = {name: _stored(folder, name, upload, limits) for name, upload in files.items() if name != "image"}
    name = given.get("camera_name") or None
    camera = None
    if "camera" in paths:
        found = read_camera(paths["camera"], name, size=(width, height))
        camera = fitted_camera(found, (height, width), "camera")
    readings = files["anchors"]
    if not kind and paths["anchors"].suffix == ".json":
        return rows_of(readings.content, limits), camera
    if kind in ("", "table") and paths["anchors"].suffix in (".csv", ".txt", ".tsv"):
        check_count(readings.content.count(b"\n") - 1000, limits)  # before they are parsed; some lines are remarks
    options = SourceOptions(
        kind=kind,
        scale=given.get("anchors_scale") or None,
        image_size=(width, height),
        camera=camera,
        pose=read_pose(paths["pose"], name) if "pose" in paths else None,
        depth_camera=read_camera(paths["depth_camera"]) if "depth_camera" in paths else None,
        confidence=paths.get("confidence"),
        fov_deg=_angles(given.get("fov")),
        rotation_deg=_whole("turned", given.get("turned")),
        mirror=given.get("mirrored") or None,
        max_anchors=_whole("max_anchors", given.get("max_anchors")),
    )
    return read_source(paths["anchors"], options if preset is None else preset.completed(options)), camera


def _stored(folder: Path, part: str, upload: Upload, limits: Limits) -> Path:
    """Writes an upload where readers find it, under a name of ours: part and suffix."""
    suffix = next((known for known in SUFFIXES if upload.name.lower().endswith(known)), "")
    if not upload.name:
        is_json = upload.content.lstrip()[:1] in (b"[", b"{")
        suffix = ".json" if is_json or part != "anchors" else ".csv"
    if not suffix:
        raise UnsupportedError(f"{part}: a file {upload.name[-40:]!r} arrived; one of {', '.join(SUFFIXES)} is needed")
    if part in ("camera", "pose", "depth_camera") and len(upload.content) > _SMALL:
        raise TooLargeError(f"{part}: {len(upload.content):,} bytes arrived; at most {_SMALL:,} are read")
    path = folder / f"{part}{suffix}"
    path.write_bytes(upload.content)
    check_file(path, part, limits)
    return path


def rows_of(content: bytes, limits: Limits) -> Anchors:
    """Readings as JSON: rows [u, v, z] or [u, v, z, sigma], pixels and metres; null is a missing number.

    Raises:
        ContractError: it is not such a list.
        TooLargeError: more rows than the limit.
    """
    needed = "rows [u, v, z] or [u, v, z, sigma] are needed, pixels and metres"
    try:
        rows = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"anchors: not readable as JSON ({str(error)[:100]}); {needed}") from None
    if not isinstance(rows, list):
        raise ContractError(f"anchors: {type(rows).__name__} arrived; {needed}")
    check_count(len(rows), limits)
    for number, row in enumerate(rows):
        is_row = isinstance(row, list) and len(row) in (3, 4) and len(row) == len(rows[0])
        if not is_row or not all(each is None or _is_number(each) for each in row):
            raise ContractError(f"anchors: row {number} is {str(row)[:60]}; {needed}")
    columns = [
        [math.nan if row[i] is None else float(row[i]) for row in rows] for i in range(len(rows[0]) if rows else 3)
    ]
    return Anchors(list(zip(*columns[:2], strict=True)), columns[2], columns[3] if len(columns) > 3 else None)


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and not (isinstance(value, int) and abs(value) > 1e300)
    )


def _angles(text: str | None) -> tuple[float, float] | None:
    if not text:
        return None
    try:
        across, down = (float(part) for part in text.split(","))
    except ValueError:
        raise ContractError(f"fov: {text[:40]!r} arrived; two angles in degrees are needed, as 45,45") from None
    return across, down


def _whole(name: str, text: str | None) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ContractError(f"{name}: {text[:40]!r} arrived; a whole number is needed")
    return int(text)
