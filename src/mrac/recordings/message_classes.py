"""Classes of ROS messages by name, of rosbags (recordings) or of the packages that a ROS 2 installation has (a node).

The two differ in how sequences of numbers are held: numpy arrays there, `array.array` here.
"""

import array
import importlib
from typing import Any, Final, Protocol

from numpy.typing import NDArray

from mrac.errors import MissingExtra

_CODES: Final = {"u1": "B", "f4": "f", "f8": "d"}


class MessageClasses(Protocol):
    """What makes messages."""

    def make(self, name: str, /, **fields: Any) -> Any:
        """A message of the type `name`, as `sensor_msgs/msg/Image`, with all its fields."""

    def constant(self, name: str, constant: str) -> Any:
        """A constant of that type: `constant("diagnostic_msgs/msg/DiagnosticStatus", "WARN")`."""

    def sequence(self, values: NDArray[Any]) -> Any:
        """(N,) numbers as the field of a message without a fixed length holds them."""


class RosbagsClasses:
    """Of a type store of rosbags; ROS 2 Jazzy's by default."""

    def __init__(self, typestore: Any = None) -> None:
        self.typestore = jazzy() if typestore is None else typestore

    def make(self, name: str, /, **fields: Any) -> Any:
        """See `MessageClasses`."""
        return self.typestore.types[name](**fields)

    def constant(self, name: str, constant: str) -> Any:
        """See `MessageClasses`."""
        return getattr(self.typestore.types[name], constant)

    def sequence(self, values: NDArray[Any]) -> Any:
        """See `MessageClasses`."""
        return values


class PackageClasses:
    """Of Python packages such as `sensor_msgs.msg`, as rclpy's nodes use them."""

    def make(self, name: str, /, **fields: Any) -> Any:
        """See `MessageClasses`."""
        return self.of(name)(**fields)

    def constant(self, name: str, constant: str) -> Any:
        """See `MessageClasses`."""
        return getattr(self.of(name), constant)

    def sequence(self, values: NDArray[Any]) -> Any:
        """See `MessageClasses`; rclpy takes nothing else without looking at every number in Python."""
        return array.array(_CODES[values.dtype.str[1:]], values.tobytes())

    def of(self, name: str) -> Any:
        """The class itself."""
        package, _, kind = name.split("/")
        return getattr(importlib.import_module(f"{package}.msg"), kind)


def jazzy() -> Any:
    """The types of ROS 2 Jazzy.

    Raises:
        MissingExtra: rosbags is not installed.
    """
    try:
        from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("recordings", "robotics") from None
    return get_typestore(Stores.ROS2_JAZZY)
