"""Recordings of robots: MCAP, ROS 1 and ROS 2 bags in, depth as ROS 2 messages in an MCAP file out (extra `robotics`).

`opened` reads, `survey` looks at stamps, cameras and transforms, `frames` brings images and readings together, `decode`
and `readings` make anchors of them, `outputs` makes messages of results, `run` does all of it, resumable.
"""
