"""A ROS 2 node that publishes dense metric depth of images and a range sensor."""
