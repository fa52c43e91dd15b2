"""What a service is started with; also reads its token."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mrac.errors import ContractError
from mrac.http import Limits, Offer
from mrac.registry import check_numbers
from mrac.runtime.parallel import num_cores

TOKEN_VARIABLE: Final = "MRAC_TOKEN"
_SHORTEST: Final = 16  # characters of a token


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a service offers, and how much of it at a time.

    Attributes:
        offer: methods and networks.
        limits: of a request.
        workers: calibrations at the same time. One per core is best on two cores: the parts of a calibration that use
            one core overlap with those of another that use all (docs/service.md).
        waiting: requests that may wait besides; beyond, clients get 429.
        token: that clients must send; empty: none.
    """

    offer: Offer = field(default_factory=Offer)
    limits: Limits = field(default_factory=Limits)
    workers: int = field(default_factory=num_cores)
    waiting: int = 32
    token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        check_numbers(self, 1, 1024, only=("workers",))
        check_numbers(self, 0, 100_000, only=("waiting",))
        if self.token and (len(self.token) < _SHORTEST or not self.token.isascii() or len(self.token.split()) != 1):
            raise ContractError(
                f"token: {len(self.token)} characters arrived; at least {_SHORTEST} are needed, ASCII without blanks: "
                'python -c "import secrets; print(secrets.token_urlsafe())" makes one'
            )


def read_token(file: Path | None) -> str:
    """The token in a file, or else in the environment variable MRAC_TOKEN; empty without both.

    Never a value on the command line, which every user of the machine can read.

    Raises:
        ContractError: the file is missing or empty.
    """
    if file is None:
        return os.environ.get(TOKEN_VARIABLE, "").strip()
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"token: {file} cannot be read: {error}") from None
    if not token:
        raise ContractError(f"token: {file} is empty; a token is needed")
    return token
