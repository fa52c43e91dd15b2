"""Training: data on the device, views of it, losses, networks and the recipes that put them together."""
