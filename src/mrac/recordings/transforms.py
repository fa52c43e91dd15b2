"""Transforms between the frames of a robot over time (tf2's messages): a tree, interpolated between its stamps."""

import math
from array import array
from collections import Counter, deque
from typing import Any

import numpy as np

from mrac.camera import Pose
from mrac.errors import ContractError


class TransformTree:
    """Poses of frames to each other, added from /tf and /tf_static, asked for at any time.

    A pose between two stamps is interpolated: the shift along a line, the rotation along the shortest arc. Static ones
    hold always. Memory: 64 bytes for every transform of /tf.

    Attributes:
        refused: how often a transform (parent, child) came without a rotation or with a number that is not finite.
            As in tf2, it is ignored, and nothing else of its message is.
    """

    def __init__(self) -> None:
        self._edges: dict[tuple[str, str], _Series] = {}
        self._static: dict[tuple[str, str], Pose] = {}
        self.refused: Counter[tuple[str, str]] = Counter()

    def add(self, message: Any, *, static: bool) -> None:
        """Adds the transforms of a TFMessage."""
        for one in message.transforms:
            edge = (frame_name(one.header.frame_id), frame_name(one.child_frame_id))
            turn, shift = _numbers(one.transform)
            if not any(turn) or not all(map(math.isfinite, (*turn, *shift))):
                self.refused[edge] += 1
            elif static:
                self._static[edge] = Pose.from_quaternion(turn, shift)
            else:
                self._edges.setdefault(edge, _Series()).add(stamp_ns(one.header.stamp), turn, shift)

    @property
    def frames(self) -> list[str]:
        """The names of all frames."""
        return sorted({frame for edge in (*self._edges, *self._static) for frame in edge})

    def pose(self, target: str, source: str, time_ns: int, tolerance_ns: int = 0) -> Pose:
        """Target from source at a time.

        Args:
            target: the frame that points are taken to.
            source: the frame that they are in.
            time_ns: of the stamps.
            tolerance_ns: so long before the first or after the last stamp, that one's transform holds.

        Raises:
            ContractError: the frames are not connected, or a transform between them is not known at that time.
        """
        result = Pose.identity()
        for parent, child, forward in self.path(target, source):
            step = self._static.get((parent, child))
            if step is None:
                step = self._edges[parent, child].at(time_ns, tolerance_ns, f"{parent} → {child}")
            result = result @ (step if forward else step.inverse())
        return result

    def path(self, target: str, source: str) -> list[tuple[str, str, bool]]:
        """The edges (parent, child, whether it is taken from parent to child) that lead from target to source.

        Raises:
            ContractError: there is none.
        """
        target, source = frame_name(target), frame_name(source)
        near: dict[str, list[tuple[str, tuple[str, str, bool]]]] = {}
        for parent, child in (*self._static, *self._edges):
            near.setdefault(parent, []).append((child, (parent, child, True)))
            near.setdefault(child, []).append((parent, (parent, child, False)))
        came: dict[str, list[tuple[str, str, bool]]] = {target: []}
        queue = deque([target])
        while queue and source not in came:
            here = queue.popleft()
            for there, edge in near.get(here, ()):
                if there not in came:
                    came[there] = [*came[here], edge]
                    queue.append(there)
        if source not in came:
            known = ", ".join(self.frames[:20]) or "none"
            raise ContractError(
                f"transforms: no way from the frame {source!r} to {target!r}; the frames of /tf and /tf_static are "
                f"{known}. Record them, or give --pose FILE (camera from sensor)"
            )
        return came[source]


class _Series:
    """The transforms of one edge of /tf, by time."""

    def __init__(self) -> None:
        self._stamps, self._values = array("q"), array("d")
        self._sorted: tuple[Any, Any] | None = None

    def add(self, stamp: int, q_xyzw: tuple[float, ...], t_m: tuple[float, ...]) -> None:
        self._stamps.append(stamp)
        self._values.extend((*q_xyzw, *t_m))
        self._sorted = None

    def at(self, time_ns: int, tolerance_ns: int, name: str) -> Pose:
        """The pose at a time; tf2's rule, that nothing is extrapolated, holds up to the tolerance."""
        stamps, values = self._in_order()
        late = time_ns - int(stamps[-1])
        early = int(stamps[0]) - time_ns
        if max(late, early) > tolerance_ns:
            what, by = ("after its last", late) if late > early else ("before its first", early)
            raise ContractError(
                f"transforms: {name} is asked for {by / 1e9:.3f} s {what} stamp; it is known for "
                f"{(int(stamps[-1]) - int(stamps[0])) / 1e9:.3f} s"
            )
        after = int(np.searchsorted(stamps, time_ns))
        if after in (0, stamps.size) or stamps[after] == time_ns:
            q_t = values[min(after, stamps.size - 1)]
            return Pose.from_quaternion(q_t[:4], q_t[4:])
        return self._between(values[after - 1 : after + 1], stamps[after - 1 : after + 1], time_ns)

    @staticmethod
    def _between(values: Any, stamps: Any, time_ns: int) -> Pose:
        from scipy.spatial.transform import Rotation, Slerp  # noqa: PLC0415  (slow to import)

        share = (time_ns - int(stamps[0])) / int(stamps[1] - stamps[0])
        turned = Slerp([0.0, 1.0], Rotation.from_quat(values[:, :4]))(share).as_quat()
        return Pose.from_quaternion(turned, (1.0 - share) * values[0, 4:] + share * values[1, 4:])

    def _in_order(self) -> tuple[Any, Any]:
        if self._sorted is None:
            stamps, values = np.array(self._stamps), np.array(self._values).reshape(-1, 7)
            order = np.argsort(stamps, kind="stable")
            self._sorted = stamps[order], values[order]
        return self._sorted


def pose_of(transform: Any) -> Pose:
    """The pose in a geometry_msgs Transform: parent from child."""
    return Pose.from_quaternion(*_numbers(transform))


def _numbers(transform: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    turn, shift = transform.rotation, transform.translation
    return (turn.x, turn.y, turn.z, turn.w), (shift.x, shift.y, shift.z)


def frame_name(name: str) -> str:
    """A frame's name as ROS 2 writes it: ROS 1's slash at the beginning means nothing."""
    return str(name).lstrip("/")


def stamp_ns(stamp: Any) -> int:
    """Nanoseconds of a builtin_interfaces Time, of ROS 1 or ROS 2."""
    return int(stamp.sec) * 1_000_000_000 + int(getattr(stamp, "nanosec", getattr(stamp, "nsec", 0)))
