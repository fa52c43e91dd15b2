"""The node `mrac_depth`: image and readings in; depth, sigma, cloud, readings with verdicts and diagnostics out.

All that is not ROS is in `mrac.recordings`; this file subscribes, looks up transforms and publishes.
"""

import message_filters
import rclpy
import tf2_ros
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.time import Time
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, LaserScan, PointCloud2, Range

from mrac import Calibrator
from mrac.camera import Pose
from mrac.errors import ContractError
from mrac.recordings.live import LiveDepth
from mrac.recordings.message_classes import PackageClasses
from mrac.recordings.outputs import OUTPUTS
from mrac.recordings.readings import ReadingOptions
from mrac.recordings.solve import Solver
from mrac.recordings.transforms import pose_of
from mrac.sensors import sensor

READING_TYPES = {"depth": Image, "cloud": PointCloud2, "scan": LaserScan, "range": Range}
PARAMETERS = {
    "readings": "depth",  # what the topic `readings` has: depth, cloud, scan, range
    "compressed_image": False,  # `image` is a CompressedImage
    "compressed_readings": False,  # `readings` is a CompressedImage (compressedDepth)
    "rectified": False,
    "rectified_readings": False,
    "registered": False,
    "fixed_frame": "",
    "tf_timeout": 0.1,
    "slop": 0.02,
    "queue_size": 5,
    "sensor": "",
    "scale": "",
    "max_anchors": 500,
    "method": "default",
    "foundation": "",
    "device": "cpu",
    "video": False,
    "cloud_stride": 4,
}


class DepthNode(Node):
    """See the module; parameters are those of PARAMETERS, explained in config/depth.yaml."""

    def __init__(self):
        super().__init__("mrac_depth")
        for name, value in PARAMETERS.items():
            self.declare_parameter(name, value)
        kind = self._value("readings")
        self._live = LiveDepth(
            solver=Solver(self._calibrator(), video=self._value("video")),
            classes=PackageClasses(),
            kind=kind,
            readings=ReadingOptions(
                sensor=sensor(self._value("sensor")) if self._value("sensor") else None,
                scale=self._value("scale") or None,
                max_anchors=self._value("max_anchors"),
            ),
            registered=self._value("registered"),
            rectified=self._value("rectified"),
            rectified_depth=self._value("rectified_readings"),
            cloud_stride=self._value("cloud_stride"),
        )
        self._outputs = {
            name: self.create_publisher(PackageClasses().of(kind_of), f"~/{name}", 5)
            for name, (kind_of, _) in OUTPUTS.items()
        }
        self._transforms = tf2_ros.Buffer()
        self._listener = tf2_ros.TransformListener(self._transforms, self)
        # Best effort hears reliable publishers too; a reliable subscription hears no best-effort driver.
        for topic, use in (
            ("camera_info", self._live.on_camera_info),
            ("readings_camera_info", self._live.on_depth_camera_info),
        ):
            self.create_subscription(CameraInfo, topic, self._take(use), qos_profile_sensor_data)
        image = CompressedImage if self._value("compressed_image") else Image
        reading = CompressedImage if self._value("compressed_readings") else READING_TYPES[kind]
        pair = [
            message_filters.Subscriber(self, image, "image", qos_profile=qos_profile_sensor_data),
            message_filters.Subscriber(self, reading, "readings", qos_profile=qos_profile_sensor_data),
        ]
        self._pairs = message_filters.ApproximateTimeSynchronizer(pair, self._value("queue_size"), self._value("slop"))
        self._pairs.registerCallback(self.on_pair)

    def on_pair(self, image, reading):
        """Publishes the result of an image and its readings; a frame that fails is a diagnostic of level ERROR."""
        for name, message in self._live(image, reading, self._look_up).items():
            self._outputs[name].publish(message)

    def _value(self, name):
        return self.get_parameter(name).value

    def _calibrator(self):
        return Calibrator(
            self._value("method"), foundation=self._value("foundation") or None, device=self._value("device")
        )

    def _take(self, use):
        """A callback that logs what is wrong with a CameraInfo instead of ending the node."""

        def take(message):
            try:
                use(message)
            except ContractError as error:
                self.get_logger().warning(str(error))

        return take

    def _look_up(self, to, source) -> Pose:
        """The image's frame from the sensor's, at the image's time, or through the fixed frame at both times.

        Transforms of a moving robot come later than the image that they are for: they are waited for.
        """
        at, since, fixed = Time.from_msg(to.stamp), Time.from_msg(source.stamp), self._value("fixed_frame")
        wait = Duration(seconds=self._value("tf_timeout"))
        try:
            if fixed:
                found = self._transforms.lookup_transform_full(
                    to.frame_id, at, source.frame_id, since, fixed, timeout=wait
                )
            else:
                found = self._transforms.lookup_transform(to.frame_id, source.frame_id, at, timeout=wait)
        except tf2_ros.TransformException as error:
            raise ContractError(f"no transform from {source.frame_id!r} to {to.frame_id!r}: {error}") from None
        return pose_of(found.transform)


def main(args=None):
    """Runs the node until it is stopped."""
    rclpy.init(args=args)
    node = DepthNode()
    # A second thread: transforms go on arriving while a frame is calibrated or waits for them.
    executor = MultiThreadedExecutor(num_threads=2)
    executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):  # Ctrl-C; SIGTERM, as of a container that stops
        pass
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()
