"""Range sensors by name: unit, noise, plausible range and saturation values."""

from mrac.sensors.presets import PRESETS, Sensor, sensor, sensor_names

__all__ = ["PRESETS", "Sensor", "sensor", "sensor_names"]
