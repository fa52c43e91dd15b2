"""A frame of a recording decoded: image, camera, and the readings of all its sensors in the image's frame."""

from dataclasses import dataclass, field

from mrac.anchors.readings import joined
from mrac.camera import Camera, Pose
from mrac.errors import ContractError
from mrac.recordings.frames import RawFrame
from mrac.recordings.images import colour_image
from mrac.recordings.opened import Recording
from mrac.recordings.readings import ReadingOptions, View, readings_of
from mrac.recordings.solve import Frame
from mrac.recordings.survey import Survey
from mrac.recordings.topics import Chosen
from mrac.result.inputs import fitted_camera


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Where camera and sensors are, as far as it is not the recording's to say.

    Attributes:
        camera: in place of the recorded CameraInfo.
        pose: camera from sensor, in place of the recorded transforms.
        registered: depth images show the image's own view, whatever their frames are called.
        fixed_frame: through which readings are taken from their time to the image's, as `odom`; "": at one time.
        tolerance_ns: so long beyond its ends a recorded transform holds.
    """

    camera: Camera | None = None
    pose: Pose | None = None
    registered: bool = False
    fixed_frame: str = ""
    tolerance_ns: int = 100_000_000


@dataclass(frozen=True, eq=False)
class Decoder:
    """Decodes the frames of one recording."""

    recording: Recording
    chosen: Chosen
    survey: Survey
    geometry: Geometry
    readings: ReadingOptions = field(default_factory=ReadingOptions)

    def check(self) -> None:
        """Looks for what would make every frame fail.

        Raises:
            ContractError: a camera is missing or not calibrated, or the frames of camera and sensor are not connected.
        """
        cameras, geometry = self.survey.cameras, self.geometry
        view = cameras.get(self.chosen.image)
        has_camera = geometry.camera is not None or (view is not None and bool(view.cameras))
        for kind, topic in self.chosen.readings:
            for frame in sorted(self.survey.tracks[topic].frames):
                other = self._is_elsewhere(kind, frame)
                if (kind != "depth" or other) and not has_camera:
                    why = view.fault if view is not None and view.fault else "no CameraInfo beside it"
                    raise ContractError(
                        f"bag: {topic} ({kind}, frame {frame!r}) needs the camera of {self.chosen.image} (frame "
                        f"{self._image_frame()!r}): {why}; give --info-topic or --camera FILE"
                        + (", or --registered if it shows the same view" if kind == "depth" else "")
                    )
                if kind == "depth" and other and not self._has_depth_camera(topic):
                    raise ContractError(
                        f"bag: the depth image {topic} is of the frame {frame!r}, the image of "
                        f"{self._image_frame()!r}; its own camera_info is needed beside it, or --registered if both "
                        "show the same view"
                    )
                if other and geometry.pose is None:
                    target, middle = self._image_frame(), geometry.fixed_frame
                    for part in ((middle, frame), (target, middle)) if middle else ((target, frame),):
                        self.survey.transforms.path(*part)

    def decode(self, raw: RawFrame) -> Frame:
        """The frame in memory.

        Raises:
            ContractError: a message is damaged or of an unknown encoding, or a transform is not known at its time.
        """
        image = colour_image(self.recording.decoded(raw.image))
        size = (image.shape[1], image.shape[0])
        camera = self.geometry.camera
        if camera is None and self.chosen.image in self.survey.cameras:
            camera = self.survey.cameras[self.chosen.image].at(raw.stamp_ns)
        if camera is not None:
            camera = fitted_camera(camera, image.shape[:2], f"the camera of {self.chosen.image}")
        image_frame = self.recording.header(raw.image).frame
        parts = []
        for column, message in raw.readings:
            kind, topic = self.chosen.readings[column]
            frame, stamp_ns = self.recording.header(message).frame, self.recording.measured_ns(message)
            pose, depth_camera = None, None
            if self._is_elsewhere(kind, frame, image_frame):
                pose = self._pose(image_frame, raw.stamp_ns, frame, stamp_ns)
                if kind == "depth":
                    depth_camera = self.survey.cameras[topic].at(stamp_ns)
            view = View(size=size, camera=camera, pose=pose, depth_camera=depth_camera)
            parts.append(readings_of(kind, self.recording.decoded(message), view, self.readings))
        return Frame(image, joined(parts), camera, raw.stamp_ns)

    def _pose(self, target: str, target_ns: int, source: str, source_ns: int) -> Pose:
        """Camera from sensor."""
        geometry, tree = self.geometry, self.survey.transforms
        if geometry.pose is not None:
            return geometry.pose
        if geometry.fixed_frame:
            to_fixed = tree.pose(geometry.fixed_frame, source, source_ns, geometry.tolerance_ns)
            return tree.pose(target, geometry.fixed_frame, target_ns, geometry.tolerance_ns) @ to_fixed
        return tree.pose(target, source, target_ns, geometry.tolerance_ns)

    def _is_elsewhere(self, kind: str, frame: str, image_frame: str | None = None) -> bool:
        """Whether readings of a frame are to be moved to the image's."""
        if kind == "depth" and self.geometry.registered:
            return False
        if self.geometry.pose is not None:
            return True
        return frame != (self._image_frame() if image_frame is None else image_frame)

    def _image_frame(self) -> str:
        return min(self.survey.tracks[self.chosen.image].frames, default="")

    def _has_depth_camera(self, topic: str) -> bool:
        return topic in self.survey.cameras and bool(self.survey.cameras[topic].cameras)


def first_size(recording: Recording, topic: str) -> tuple[int, int] | None:
    """(width, height) of a topic's first image; None if it cannot be decoded."""
    for message in recording.messages([topic]):
        try:
            image = colour_image(recording.decoded(message))
        except ContractError:
            return None
        return (image.shape[1], image.shape[0])
    return None
