"""Starts the node `mrac_depth` with its parameters, its topics named by arguments.

ros2 launch mrac_ros depth.launch.py image:=/camera/color/image_raw readings:=/lidar/points kind:=cloud
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = {
    "image": ("/camera/color/image_raw", "the images"),
    "camera_info": ("/camera/color/camera_info", "their CameraInfo"),
    "readings": ("/camera/aligned_depth_to_color/image_raw", "the readings"),
    "readings_camera_info": ("/camera/depth/camera_info", "CameraInfo of a depth image of another view"),
    "kind": ("depth", "of the readings: depth, cloud, scan, range"),
}


def generate_launch_description():
    """The node, its arguments, its parameter file."""
    default = PathJoinSubstitution([FindPackageShare("mrac_ros"), "config", "depth.yaml"])
    declared = [
        DeclareLaunchArgument(name, default_value=value, description=text) for name, (value, text) in ARGUMENTS.items()
    ]
    declared.append(DeclareLaunchArgument("params", default_value=default, description="parameters as YAML"))
    node = Node(
        package="mrac_ros",
        executable="depth_node",
        name="mrac_depth",
        parameters=[LaunchConfiguration("params"), {"readings": LaunchConfiguration("kind")}],
        remappings=[(name, LaunchConfiguration(name)) for name in ARGUMENTS if name != "kind"],
        output="screen",
    )
    return LaunchDescription([*declared, node])
