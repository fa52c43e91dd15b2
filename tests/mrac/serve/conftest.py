from collections.abc import Iterator

import pytest

from tests.mrac.serve.running import Running, served


@pytest.fixture(scope="package")
def running() -> Iterator[Running]:
    with served() as one:
        yield one
