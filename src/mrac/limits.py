"""Limits of what is read: pixels, bytes, readings, archive ratio. Files keep to them, and requests are to.

Each is checked against what a file says of itself, its size or its header, before memory is reserved: a file beyond
them is refused within a second and 200 MB. docs/trust.md has the table.
"""

from typing import Final

from mrac.errors import ContractError

MEGAPIXELS: Final = 178  # of a picture, where Pillow too takes a file for a bomb; at 20 bytes per pixel, 4 GB
FILE_BYTES: Final = 4 << 30  # of one file: a scan of 200 million points has less
TEXT_BYTES: Final = 512 << 20  # of a table of readings or points: some ten million rows
DESCRIPTION_BYTES: Final = 16 << 20  # of a card, a configuration, a calibration: what is read whole into objects
ARRAY_BYTES: Final = 2 << 30  # of one array, unpacked: a float64 for each of the pixels above
READINGS: Final = 10_000_000  # of one file
ARCHIVE_RATIO: Final = 200  # unpacked to packed: zeros reach 1,030 in a .zip or .png, photographs 30
RATIO_FREE_BYTES: Final = 256 << 20  # unpacked, up to which any ratio is fine: a sparse depth map is mostly zeros


def check_unpacked(num_bytes: int, packed: int, where: str) -> None:
    """Raises `ContractError` where what is stored in `packed` bytes would take too much memory, by what it states.

    Args:
        num_bytes: once unpacked.
        packed: in the file.
        where: the file, and what in it.
    """
    if num_bytes > ARRAY_BYTES:
        raise ContractError(
            f"{where}: {num_bytes / 1e9:.1f} GB unpacked, by what the file says of itself; at most "
            f"{ARRAY_BYTES / 1e9:.1f} GB are read. Cut it into parts"
        )
    if num_bytes > RATIO_FREE_BYTES and num_bytes > ARCHIVE_RATIO * max(packed, 1):
        raise ContractError(
            f"{where}: {packed / 1e6:.1f} MB packed would become {num_bytes / 1e9:.1f} GB, more than "
            f"{ARCHIVE_RATIO} times as much: nothing that was measured packs so well. Store it unpacked, or smaller"
        )


def check_readings(num: int, where: str) -> None:
    """Raises `ContractError` where a file has more readings than can be used."""
    if num > READINGS:
        raise ContractError(
            f"{where}: {num:,} readings arrived; at most {READINGS:,} are read. Leave out most: some thousands do"
        )
