"""What the page and the service share: limits, requests read into frames, results as answers, errors as messages.

On Starlette alone (extras `web` and `serve`). The way of a request: `Envelope` gives it an id, `read_submission` takes
its body in while it counts the bytes, `read_frame` (in a worker thread) decodes image and readings after it has checked
what they would grow to, and `encoded` makes the answer of a result. An error anywhere on that way becomes one plain
message, by `handlers`.
"""

from mrac.http.choices import Choices, Offer
from mrac.http.encoders import FORMATS, chosen_format, chosen_maps, encoded
from mrac.http.envelope import Envelope
from mrac.http.errors import (
    BusyError,
    NotReadyError,
    RequestError,
    TimeUpError,
    TooLargeError,
    UnauthorizedError,
    UnsupportedError,
    handlers,
)
from mrac.http.frame import Frame, calibrated, read_frame, read_picture, read_readings
from mrac.http.limits import Limits
from mrac.http.submission import Submission, Upload, read_json, read_submission

__all__ = [
    "FORMATS",
    "BusyError",
    "Choices",
    "Envelope",
    "Frame",
    "Limits",
    "NotReadyError",
    "Offer",
    "RequestError",
    "Submission",
    "TimeUpError",
    "TooLargeError",
    "UnauthorizedError",
    "UnsupportedError",
    "Upload",
    "calibrated",
    "chosen_format",
    "chosen_maps",
    "encoded",
    "handlers",
    "read_frame",
    "read_json",
    "read_picture",
    "read_readings",
    "read_submission",
]
