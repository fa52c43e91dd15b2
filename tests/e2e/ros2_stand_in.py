"""A stand-in of what the ROS 2 node uses: rclpy, message_filters, tf2_ros, launch and the message packages.

Messages are of rosbags' types; what makes them is as strict as rclpy is with sequences and bytes, which it checks in
assertions: numbers of a sequence without a length are an `array.array`, a `byte` is bytes of length one.
"""

import array
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.transform import Rotation

from mrac.errors import ContractError
from mrac.recordings.message_classes import jazzy
from mrac.recordings.transforms import TransformTree, stamp_ns

STORE = jazzy()
_SEQUENCE, _ARRAY, _BASE = 4, 3, 1  # rosbags' kinds of fields


def message_class(name: str) -> Any:
    """A class whose instances are rosbags' messages, made as strictly as rclpy's are."""
    _, fields = STORE.fielddefs[name]
    kinds = dict(fields)
    constants = {constant: value for constant, kind, value in STORE.fielddefs[name][0]}
    as_bytes = {constant: bytes([value]) for constant, kind, value in STORE.fielddefs[name][0] if kind == "byte"}

    def make(cls: Any, **given: Any) -> Any:
        assert given.keys() == kinds.keys(), f"{name}: {sorted(given.keys() ^ kinds.keys())}"
        return STORE.types[name](**{field: _checked(f"{name}.{field}", kinds[field], given[field]) for field in given})

    return type(name.rpartition("/")[2], (), {"__new__": make, "NAME": name, **constants, **as_bytes})


def _checked(where: str, kind: Any, value: Any) -> Any:
    sort, detail = int(kind[0]), kind[1]
    if sort == _BASE and detail[0] == "byte":
        assert isinstance(value, bytes), where
        assert len(value) == 1, where
        return value[0]
    if sort == _BASE:
        types: Any = {"string": str, "bool": bool, "float32": float, "float64": float}.get(detail[0], int)
        assert type(value) is types, f"{where}: {type(value)}"
    if sort == _SEQUENCE and int(detail[0][0]) == _BASE and detail[0][1][0] != "string":
        code = {"uint8": "B", "float32": "f", "float64": "d"}[detail[0][1][0]]
        assert isinstance(value, array.array), where
        assert value.typecode == code, where
        return np.array(value)
    if sort == _ARRAY:
        assert isinstance(value, np.ndarray), where
        assert (value.dtype, value.size) == (np.dtype(detail[0][1][0]), detail[1]), where
    return value


class Node:
    """rclpy's node: parameters, publishers, subscriptions, and a list of what was published."""

    overrides: ClassVar[dict[str, Any]] = {}

    def __init__(self, name: str) -> None:
        self.name, self.parameters = name, dict[str, Any]()
        self.callbacks: dict[str, Callable[[Any], None]] = {}
        self.qualities: dict[str, Any] = {}
        self.published: list[tuple[str, Any]] = []
        self.logged: list[str] = []

    def declare_parameter(self, name: str, value: Any) -> None:
        self.parameters[name] = self.overrides.get(name, value)
        assert type(self.parameters[name]) is type(value)

    def get_parameter(self, name: str) -> Any:
        return SimpleNamespace(value=self.parameters[name])

    def create_publisher(self, kind: Any, topic: str, queue: int) -> Any:
        def publish(message: Any) -> None:
            assert message.__msgtype__ == kind.NAME
            self.published.append((topic, message))

        return SimpleNamespace(publish=publish)

    def create_subscription(self, kind: Any, topic: str, callback: Callable[[Any], None], quality: Any) -> None:
        self.callbacks[topic], self.qualities[topic] = callback, quality

    def get_logger(self) -> Any:
        return SimpleNamespace(warning=self.logged.append)

    def destroy_node(self) -> None:
        self.callbacks.clear()


class Subscriber:
    """message_filters' subscriber."""

    def __init__(self, node: Node, kind: Any, topic: str, qos_profile: Any = None) -> None:
        self.heard: list[Any] = []
        self.after: Callable[[], None] = lambda: None
        node.create_subscription(kind, topic, self._hear, qos_profile)

    def _hear(self, message: Any) -> None:
        self.heard.append(message)
        self.after()


class ApproximateTimeSynchronizer:
    """Pairs of two subscribers whose stamps differ by at most `slop` seconds, each message once."""

    def __init__(self, subscribers: list[Subscriber], queue_size: int, slop: float) -> None:
        self.subscribers, self.queue_size, self.slop_ns = subscribers, queue_size, round(slop * 1e9)
        for subscriber in subscribers:
            subscriber.after = self._look

    def registerCallback(self, callback: Callable[..., None]) -> None:  # noqa: N802  (message_filters' name)
        self.callback = callback

    def _look(self) -> None:
        first, second = (subscriber.heard for subscriber in self.subscribers)
        for a in list(first):
            for b in list(second):
                if abs(stamp_ns(a.header.stamp) - stamp_ns(b.header.stamp)) <= self.slop_ns:
                    first.remove(a)
                    second.remove(b)
                    self.callback(a, b)
                    return
        del first[: -self.queue_size], second[: -self.queue_size]


class TransformException(Exception):  # noqa: N818  (tf2's name)
    """tf2's."""


class Buffer:
    """tf2's buffer over a tree of ours; `late` comes while somebody waits, if a second thread listens."""

    tree: ClassVar[TransformTree]
    late: ClassVar[list[Any]] = []

    def lookup_transform(self, target: str, source: str, time: int, timeout: float = 0.0) -> Any:
        while timeout and self.late:
            self.tree.add(self.late.pop(), static=False)
        try:
            matrix = self.tree.pose(target, source, time).matrix
        except ContractError as error:
            raise TransformException(error) from None
        x, y, z, w = Rotation.from_matrix(matrix[:3, :3]).as_quat()
        shift = SimpleNamespace(**dict(zip("xyz", matrix[:3, 3], strict=True)))
        turn = SimpleNamespace(x=x, y=y, z=z, w=w)
        return SimpleNamespace(transform=SimpleNamespace(translation=shift, rotation=turn))

    def lookup_transform_full(
        self, target: str, target_time: int, source: str, source_time: int, fixed: str, timeout: float = 0.0
    ) -> Any:
        raise TransformException(f"no frame {fixed}")


class ExternalShutdownException(Exception):  # noqa: N818  (rclpy's name)
    """rclpy's: the process is told to end."""


class MultiThreadedExecutor:
    """rclpy's: a node that waits in a callback needs a second thread. It is told to end at once."""

    def __init__(self, num_threads: int) -> None:
        assert num_threads > 1
        self.nodes: list[Node] = []

    def add_node(self, node: Node) -> None:
        self.nodes.append(node)

    def spin(self) -> None:
        assert self.nodes
        raise ExternalShutdownException

    def shutdown(self) -> None:
        self.nodes.clear()


class Said:
    """Anything of `launch`: remembers how it was made."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        self.args, self.fields = args, fields

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Said) and (self.args, self.fields) == (other.args, other.fields)

    __hash__ = None  # type: ignore[assignment]


@contextmanager
def ros2(tree: TransformTree, overrides: dict[str, Any]) -> Iterator[None]:
    """The modules are there; parameters of nodes have these values."""
    modules: dict[str, dict[str, Any]] = {
        "rclpy": {"init": lambda args=None: None, "try_shutdown": lambda: None},
        "rclpy.duration": {"Duration": lambda seconds: seconds},
        "rclpy.executors": {
            "MultiThreadedExecutor": MultiThreadedExecutor, "ExternalShutdownException": ExternalShutdownException,
        },
        "rclpy.node": {"Node": Node},
        "rclpy.qos": {"qos_profile_sensor_data": "sensor data"},
        "rclpy.time": {"Time": SimpleNamespace(from_msg=stamp_ns)},
        "message_filters": {
            "Subscriber": Subscriber, "ApproximateTimeSynchronizer": ApproximateTimeSynchronizer,
        },
        "tf2_ros": {
            "Buffer": Buffer, "TransformListener": lambda buffer, node: None, "TransformException": TransformException,
        },
        "launch": {"LaunchDescription": Said},
        "launch.actions": {"DeclareLaunchArgument": type("DeclareLaunchArgument", (Said,), {})},
        "launch.substitutions": {"LaunchConfiguration": Said, "PathJoinSubstitution": Said},
        "launch_ros": {},
        "launch_ros.actions": {"Node": type("LaunchNode", (Said,), {})},
        "launch_ros.substitutions": {"FindPackageShare": Said},
    }  # fmt: skip
    for package in ("sensor_msgs", "diagnostic_msgs", "std_msgs", "builtin_interfaces"):
        names = [name for name in STORE.fielddefs if name.startswith(f"{package}/msg/")]
        modules[package] = {}
        modules[f"{package}.msg"] = {name.rpartition("/")[2]: message_class(name) for name in names}
    before = {name: sys.modules.get(name) for name in modules}
    Node.overrides, Buffer.tree = overrides, tree
    try:
        for name, content in modules.items():
            sys.modules[name] = _module(name, content)
        yield
    finally:
        for name, old in before.items():
            sys.modules.pop(name, None)
            if old is not None:
                sys.modules[name] = old


def _module(name: str, content: dict[str, Any]) -> ModuleType:
    made = ModuleType(name)
    made.__dict__.update(content)
    return made


class Replay:
    """Sends the messages of a recording to a node, by the time they were recorded at.

    Args:
        node: that has subscribed.
        topics: by topic of the recording, the node's name of it.
    """

    def __init__(self, node: Node, topics: dict[str, str]) -> None:
        self.node, self.topics = node, topics

    def play(self, recording: Any) -> Self:
        for message in recording.messages(list(self.topics)):
            self.node.callbacks[self.topics[message.topic]](recording.decoded(message))
        return self
