"""Recordings for the tests, written by rosbags: messages of any topics as MCAP, ROS 2 folder, .db3 or ROS 1 bag."""

import io
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mrac.camera import Camera, Pose
from mrac.recordings.camera_info import info_message
from mrac.recordings.message_classes import RosbagsClasses
from mrac.recordings.points import cloud_message
from mrac.recordings.solve import header_message

CAMERA = Camera(60.0, 60.0, 39.5, 29.5, 80, 60)
EPOCH_NS = 1_700_000_000_000_000_000
CLASSES = RosbagsClasses()


@dataclass(frozen=True)
class Sent:
    """A message of a topic; `log_ns` is when it was recorded."""

    topic: str
    log_ns: int
    message: Any


def at(seconds: float) -> int:
    return EPOCH_NS + round(seconds * 1e9)


def header(stamp_ns: int, frame: str) -> Any:
    return header_message(CLASSES, stamp_ns, frame)


def image(stamp_ns: int, frame: str, pixels: NDArray[Any], encoding: str = "rgb8", padding: int = 0) -> Any:
    rows = np.ascontiguousarray(pixels).view(np.uint8).reshape(pixels.shape[0], -1)
    rows = np.pad(rows, ((0, 0), (0, padding)))
    return CLASSES.make(
        "sensor_msgs/msg/Image", header=header(stamp_ns, frame), height=pixels.shape[0], width=pixels.shape[1],
        encoding=encoding, is_bigendian=int(pixels.dtype.byteorder == ">"), step=rows.shape[1], data=rows.ravel(),
    )  # fmt: skip


def compressed(stamp_ns: int, frame: str, content: bytes, stated: str) -> Any:
    data = np.frombuffer(content, np.uint8)
    return CLASSES.make("sensor_msgs/msg/CompressedImage", header=header(stamp_ns, frame), format=stated, data=data)


def png(values: NDArray[Any], kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.fromarray(values).save(file, kind, **({"quality": 95} if kind == "JPEG" else {}))
    return file.getvalue()


def depth_header(a: float = 0.0, b: float = 0.0, stated: int = 0) -> bytes:
    return struct.pack("<iff", stated, a, b)


def info(stamp_ns: int, frame: str, camera: Camera = CAMERA) -> Any:
    return info_message(CLASSES, header(stamp_ns, frame), camera)


def cloud(stamp_ns: int, frame: str, xyz: NDArray[Any]) -> Any:
    columns = {name: xyz[:, i].astype("<f4") for i, name in enumerate("xyz")}
    return cloud_message(CLASSES, header(stamp_ns, frame), columns)


def scan(stamp_ns: int, frame: str, angles: NDArray[Any], ranges: NDArray[Any]) -> Any:
    return CLASSES.make(
        "sensor_msgs/msg/LaserScan", header=header(stamp_ns, frame), angle_min=float(angles[0]),
        angle_max=float(angles[-1]), angle_increment=float(angles[1] - angles[0]), time_increment=0.0, scan_time=0.0,
        range_min=0.1, range_max=20.0, ranges=ranges.astype(np.float32), intensities=np.empty(0, np.float32),
    )  # fmt: skip


def distance(stamp_ns: int, frame: str, range_m: float, fov: float = 0.1, variance: float = 0.0) -> Any:
    return CLASSES.make(
        "sensor_msgs/msg/Range", header=header(stamp_ns, frame), radiation_type=0, field_of_view=fov, min_range=0.1,
        max_range=10.0, range=range_m, variance=variance,
    )  # fmt: skip


def transform(stamp_ns: int, parent: str, child: str, pose: Pose) -> Any:
    from scipy.spatial.transform import Rotation  # noqa: PLC0415

    x, y, z, w = Rotation.from_matrix(pose.matrix[:3, :3]).as_quat().tolist()
    a, b, c = pose.matrix[:3, 3].tolist()
    moved = CLASSES.make(
        "geometry_msgs/msg/Transform",
        translation=CLASSES.make("geometry_msgs/msg/Vector3", x=a, y=b, z=c),
        rotation=CLASSES.make("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w),
    )
    one = CLASSES.make(
        "geometry_msgs/msg/TransformStamped", header=header(stamp_ns, parent), child_frame_id=child, transform=moved
    )
    return CLASSES.make("tf2_msgs/msg/TFMessage", transforms=[one])


def write_bag(path: Path, sent: Sequence[Sent], *, compress: bool = False) -> Path:
    """Writes a .bag, a bare .mcap or .db3, or, without a suffix, a ROS 2 folder of MCAP."""
    if path.suffix == ".bag":
        return _write_ros1(path, sent)
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer  # noqa: PLC0415

    plugin = StoragePlugin.SQLITE3 if path.suffix == ".db3" else StoragePlugin.MCAP
    folder = path if not path.suffix else path.with_suffix("")
    writer = Writer(folder, version=9, storage_plugin=plugin)
    if compress:
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        connections: dict[str, Any] = {}
        for one in sorted(sent, key=lambda one: one.log_ns):
            kind = one.message.__msgtype__
            if one.topic not in connections:
                connections[one.topic] = writer.add_connection(one.topic, kind, typestore=CLASSES.typestore)
            writer.write(connections[one.topic], one.log_ns, CLASSES.typestore.serialize_cdr(one.message, kind))
    if path.suffix:
        (folder / f"{folder.name}{path.suffix}").replace(path)
    return path


def _write_ros1(path: Path, sent: Sequence[Sent]) -> Path:
    from rosbags.convert.converter import generate_message_converter  # noqa: PLC0415
    from rosbags.rosbag1 import Writer  # noqa: PLC0415
    from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415

    store, jazzy = get_typestore(Stores.ROS1_NOETIC), CLASSES.typestore
    missing = {name: each for name, each in jazzy.fielddefs.items() if name not in store.fielddefs}
    store.register({name: missing[name] for name in ("tf2_msgs/msg/TFMessage",)})
    with Writer(path) as writer:
        connections: dict[str, Any] = {}
        for one in sorted(sent, key=lambda one: one.log_ns):
            kind = one.message.__msgtype__
            if one.topic not in connections:
                convert = generate_message_converter(jazzy, store, kind, kind, {}, src_is2=True, dst_is2=False)
                connections[one.topic] = writer.add_connection(one.topic, kind, typestore=store), convert
            connection, convert = connections[one.topic]
            writer.write(connection, one.log_ns, convert(jazzy.serialize_cdr(one.message, kind)))
    return path


def room(number: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """(60, 80, 3) picture and (60, 80) metres of a wall with a box before it, which moves with the number."""
    v, u = np.mgrid[0:60, 0:80]
    z = 3.0 + 0.01 * u + 0.005 * v
    box = (np.abs(u - 30 - number) < 10) & (np.abs(v - 30) < 12)
    z = np.where(box, 1.5, z)
    shade = np.where(box, 200, 90 + u // 2)
    return np.stack([shade, shade // 2 + v, 255 - shade], axis=2).astype(np.uint8), z


def depth_bag(num: int, *, rate: float = 10.0, every: int = 1) -> list[Sent]:
    """An RGB-D camera: colour, registered 16UC1 depth 3 ms later, CameraInfo."""
    sent = []
    for i in range(num):
        pixels, z = room(i % 20)
        t = at(i / rate)
        sent.append(Sent("/cam/color/image_raw", t + 1_000_000, image(t, "cam", pixels)))
        sent.append(Sent("/cam/color/camera_info", t + 1_000_000, info(t, "cam")))
        if i % every == 0:
            mm = np.rint(1000 * z).astype(np.uint16)
            depth = image(t + 3_000_000, "cam", mm, "16UC1")
            sent.append(Sent("/cam/depth/image_raw", t + 5_000_000, depth))
    return sent
