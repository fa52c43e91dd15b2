"""Depth of frames as they come, message by message: what a ROS 2 node does, without ROS."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mrac.camera import Camera, Pose
from mrac.errors import ContractError, MracError
from mrac.recordings.camera_info import camera_of_info
from mrac.recordings.images import colour_image
from mrac.recordings.message_classes import MessageClasses
from mrac.recordings.outputs import failure_message
from mrac.recordings.readings import ReadingOptions, View, readings_of
from mrac.recordings.solve import Frame, Solver, solved_messages
from mrac.recordings.transforms import frame_name, stamp_ns
from mrac.result.inputs import fitted_camera


@dataclass(eq=False, kw_only=True)
class LiveDepth:
    """Turns an image message and a message of readings into the messages of the result.

    Attributes:
        solver: calibrates.
        classes: make messages: `PackageClasses` in a node.
        kind: of the readings: depth, cloud, scan, range.
        readings: how they become anchors.
        registered: depth images show the image's view, whatever their frames are called.
        rectified: images are without distortion (image_rect): P of the CameraInfo is their camera.
        rectified_depth: so are depth images of another frame, and P of theirs is their camera.
        cloud_stride: of the coloured cloud; 0: none.
        camera: of the images; set by `on_camera_info`.
        depth_camera: of depth images of another frame; set by `on_depth_camera_info`.
    """

    solver: Solver
    classes: MessageClasses
    kind: str
    readings: ReadingOptions = field(default_factory=ReadingOptions)
    registered: bool = False
    rectified: bool = False
    rectified_depth: bool = False
    cloud_stride: int = 4
    camera: Camera | None = None
    depth_camera: Camera | None = None

    def on_camera_info(self, message: Any) -> None:
        """Takes the camera of the images.

        Raises:
            ContractError: it is not calibrated.
        """
        self.camera = camera_of_info(message, "camera_info", rectified=self.rectified)

    def on_depth_camera_info(self, message: Any) -> None:
        """Takes the camera of the depth images.

        Raises:
            ContractError: it is not calibrated.
        """
        self.depth_camera = camera_of_info(message, "the depth image's camera_info", rectified=self.rectified_depth)

    def __call__(self, image: Any, reading: Any, look_up: Callable[[Any, Any], Pose]) -> dict[str, Any]:
        """The messages of a frame by their name in `mrac.recordings.outputs.OUTPUTS`; nothing is raised for one frame.

        Args:
            image: Image or CompressedImage.
            reading: of the kind.
            look_up: gives the image's frame from the reading's, of two headers; raises ContractError.
        """
        try:
            frame = self._frame(image, reading, look_up)
            result = self.solver(frame)
        except MracError as error:
            text = " ".join(str(error).split())
            return {"diagnostics": failure_message(self.classes, image.header, text)}
        return solved_messages(self.classes, image.header, frame, result, self.cloud_stride)

    def _frame(self, image: Any, reading: Any, look_up: Callable[[Any, Any], Pose]) -> Frame:
        pixels = colour_image(image)
        camera = self.camera
        if camera is not None:
            camera = fitted_camera(camera, pixels.shape[:2], "camera_info")
        pose, depth_camera = None, None
        elsewhere = frame_name(image.header.frame_id) != frame_name(reading.header.frame_id)
        if elsewhere and not (self.kind == "depth" and self.registered):
            if self.kind == "depth":
                if self.depth_camera is None or camera is None:
                    raise ContractError(
                        f"a depth image of the frame {reading.header.frame_id!r} with an image of "
                        f"{image.header.frame_id!r}: no CameraInfo of both yet; if they show one view, set `registered`"
                    )
                depth_camera = self.depth_camera
            pose = look_up(image.header, reading.header)
        view = View(size=(pixels.shape[1], pixels.shape[0]), camera=camera, pose=pose, depth_camera=depth_camera)
        anchors = readings_of(self.kind, reading, view, self.readings)
        return Frame(pixels, anchors, camera, stamp_ns(image.header.stamp))
