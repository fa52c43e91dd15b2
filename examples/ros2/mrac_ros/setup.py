"""Installs the node where `ros2 run` and `ros2 launch` look for it."""

from setuptools import setup

NAME = "mrac_ros"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", ["launch/depth.launch.py"]),
        (f"share/{NAME}/config", ["config/depth.yaml"]),
    ],
    install_requires=["setuptools", "mrac-depth"],
    zip_safe=True,
    maintainer="the mrac authors",
    maintainer_email="mrac@example.org",
    description="Dense metric depth of images and a range sensor that sometimes lies.",
    license="Apache-2.0",
    entry_points={"console_scripts": ["depth_node = mrac_ros.depth_node:main"]},
)
