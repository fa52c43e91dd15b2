"""The HTTP service: `mrac serve`, or `create_app` for an ASGI server of one's own (extra `serve`)."""

from mrac.errors import MissingExtra

try:
    from mrac.serve.app import create_app
except ImportError as error:
    if error.name is None or error.name.startswith("mrac"):
        raise
    raise MissingExtra("mrac serve", "serve") from None
from mrac.serve.settings import Settings

__all__ = ["Settings", "create_app"]
