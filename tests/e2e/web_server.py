"""`mrac web` as a program of its own on a free port, for the tests that ask it from outside."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def running_page() -> Iterator[str]:
    """The address of a page that runs until the block ends."""
    command = [sys.executable, "-m", "mrac", "web", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            found = re.search(r"http://\S+", line)
            assert found, line
            yield found[0]
        finally:
            server.terminate()
            server.wait(20)
