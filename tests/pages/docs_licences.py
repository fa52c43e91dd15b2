"""docs/licences.md: a photograph and readings."""

from tests.pages.sensor_files import write_photo_and_readings as write

__all__ = ["write"]
