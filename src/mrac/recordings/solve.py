"""From the messages of a frame to the messages of its result: shared by recordings and the ROS 2 node."""

from dataclasses import dataclass
from typing import Any

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.pipeline import Calibrator
from mrac.recordings.message_classes import MessageClasses
from mrac.recordings.outputs import result_messages
from mrac.result import MetricDepth
from mrac.video import VideoCalibrator


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame in memory: (H, W, 3) uint8, its readings, its camera at its size or None, when it was taken."""

    image: ImageArray
    anchors: Anchors
    camera: Camera | None
    stamp_ns: int


class Solver:
    """Calibrates frames one by one, alone or as a video.

    Args:
        calibrator: the stages.
        video: readings of past frames count too (`VideoCalibrator`); frames are then to come in their order.
    """

    def __init__(self, calibrator: Calibrator, *, video: bool = False) -> None:
        self.calibrator, self.video = calibrator, video
        self._state: VideoCalibrator | None = None

    def __call__(self, frame: Frame) -> MetricDepth:
        """Depth of a frame.

        Raises:
            ContractError: it has no reading inside the image, and as a video no past ones; or see `Calibrator`.
        """
        if not len(frame.anchors) and not self.video:
            raise ContractError("no reading lies in the image; look at the camera and at the sensor's pose")
        if not self.video:
            return self.calibrator(frame.image, frame.anchors, camera=frame.camera)
        if self._state is None or self._state.camera != frame.camera:
            self._state = VideoCalibrator(self.calibrator, camera=frame.camera)
        return self._state(frame.image, frame.anchors, time_s=frame.stamp_ns / 1e9)


def header_message(classes: MessageClasses, stamp_ns: int, frame_id: str) -> Any:
    """A std_msgs Header."""
    sec, nanosec = divmod(stamp_ns, 1_000_000_000)
    stamp = classes.make("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)
    return classes.make("std_msgs/msg/Header", stamp=stamp, frame_id=frame_id)


def solved_messages(
    classes: MessageClasses, header: Any, frame: Frame, result: MetricDepth, cloud_stride: int
) -> dict[str, Any]:
    """The result's messages; see `mrac.recordings.outputs.result_messages`."""
    return result_messages(classes, header, frame.image, frame.anchors, result, frame.camera, cloud_stride=cloud_stride)
