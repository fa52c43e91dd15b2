"""Image messages to pixels and depth, in every encoding, checked against what was put in."""

import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.recordings.bayer import PATTERNS
from mrac.recordings.images import colour_image, depth_image
from tests.mrac.recordings.bags import at, compressed, depth_header, image, png, room

RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 256, (7, 9, 3), np.uint8)
ALPHA = np.full((7, 9, 1), 128, np.uint8)
GREY = RGB[..., 0]
MM = RNG.integers(0, 9000, (7, 9)).astype(np.uint16)


@pytest.mark.parametrize("padding", [0, 5])
@pytest.mark.parametrize(
    ("encoding", "stored", "expected"),
    [
        ("rgb8", RGB, RGB),
        ("bgr8", RGB[..., ::-1], RGB),
        ("8UC3", RGB[..., ::-1], RGB),
        ("rgba8", np.concatenate([RGB, ALPHA], 2), RGB),
        ("bgra8", np.concatenate([RGB[..., ::-1], ALPHA], 2), RGB),
        ("mono8", GREY, np.repeat(GREY[..., None], 3, 2)),
        ("mono16", GREY.astype("<u2") * 257, np.repeat(GREY[..., None], 3, 2)),
        ("mono16", (GREY.astype(np.uint16) * 257).astype(">u2"), np.repeat(GREY[..., None], 3, 2)),
        ("rgb16", RGB.astype("<u2") * 257, RGB),
    ],
)
def test_colour(encoding: str, stored: np.ndarray, expected: np.ndarray, padding: int) -> None:
    pixels = colour_image(image(at(0), "cam", stored, encoding, padding))
    assert pixels.dtype == np.uint8
    np.testing.assert_array_equal(pixels, expected)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_bayer_mosaic_of_one_colour_gives_that_colour(pattern: str) -> None:
    colour = np.array([200, 120, 30], np.uint8)
    corner = np.array(PATTERNS[pattern])
    mosaic = colour[np.tile(corner, (4, 5))][:7, :9]
    np.testing.assert_array_equal(
        colour_image(image(at(0), "cam", mosaic, f"{pattern}8")), np.broadcast_to(colour, (7, 9, 3))
    )


def test_a_bayer_mosaic_keeps_what_was_measured_and_lies_between_its_neighbours() -> None:
    picture, _ = room()
    colours = np.tile(np.array(PATTERNS["bayer_rggb"]), (30, 40))
    mosaic = np.take_along_axis(picture, colours[..., None], 2)[..., 0]
    found = colour_image(image(at(0), "cam", mosaic, "bayer_rggb8"))
    np.testing.assert_array_equal(np.take_along_axis(found, colours[..., None], 2)[..., 0], mosaic)
    assert np.median(np.abs(found.astype(int) - picture)) <= 2


def test_compressed_colour() -> None:
    np.testing.assert_array_equal(colour_image(compressed(at(0), "cam", png(RGB), "rgb8; png compressed ")), RGB)
    picture, _ = room()
    found = colour_image(compressed(at(0), "cam", png(picture, "JPEG"), "rgb8; jpeg compressed bgr8"))
    assert np.abs(found.astype(int) - picture).mean() < 4


def test_depth_by_rep_118() -> None:
    assert depth_image(image(at(0), "cam", MM, "16UC1")).per_metre == 1000.0
    np.testing.assert_array_equal(depth_image(image(at(0), "cam", MM, "16UC1", 3)).values, MM)
    metres = (MM / 1000.0).astype(np.float32)
    metres[0, 0], metres[0, 1] = np.nan, np.inf
    found = depth_image(image(at(0), "cam", metres, "32FC1"))
    assert found.per_metre == 1.0
    np.testing.assert_array_equal(found.values, metres)


@pytest.mark.parametrize("stated", [0, 1, 7])
def test_compressed_depth_of_whole_numbers_whatever_its_header_states(stated: int) -> None:
    content = depth_header(3.0, 4.0, stated) + png(MM)
    for name in ("16UC1; compressedDepth", "16UC1; compressedDepth png"):
        values, per_metre = depth_image(compressed(at(0), "cam", content, name))
        np.testing.assert_array_equal(values, MM)
        assert per_metre == 1000.0
    np.testing.assert_array_equal(depth_image(compressed(at(0), "cam", png(MM), "16UC1; png compressed")).values, MM)


def test_compressed_depth_of_floats_is_quantised_inverse_depth() -> None:
    a, b = 100.0 * 101.0, 1.0 - 100.0 * 101.0 / 10.0  # as the transport computes them, of depths up to 10 m
    metres = np.linspace(0.4, 10.0, 63).reshape(7, 9)
    stored = np.rint(a / metres + b).astype(np.uint16)
    stored[2, 3] = 0
    values, per_metre = depth_image(
        compressed(at(0), "cam", depth_header(a, b) + png(stored), "32FC1; compressedDepth")
    )
    assert per_metre == 1.0
    assert values[2, 3] == 0.0
    metres[2, 3] = 0.0
    np.testing.assert_allclose(values, metres, rtol=6e-3)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (image(at(0), "cam", RGB, "yuv422"), "yuv422"),
        (image(at(0), "cam", RGB[:, :3], "rgba8"), "63 bytes|rows"),
        (compressed(at(0), "cam", b"nothing", "jpeg"), "jpeg"),
        (compressed(at(0), "cam", b"nothing", "16UC1; compressedDepth"), "--depth-topic"),
    ],
)
def test_what_is_no_colour_image_is_said(message: object, said: str) -> None:
    with pytest.raises(ContractError, match=said):
        colour_image(message)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (image(at(0), "cam", RGB, "rgb8"), "32FC1"),
        (compressed(at(0), "cam", b"abc", "16UC1; compressedDepth"), "3 bytes"),
        (compressed(at(0), "cam", depth_header() + b"nothing", "16UC1; compressedDepth"), "not a readable image"),
        (compressed(at(0), "cam", depth_header() + png(GREY), "16UC1; compressedDepth"), "16 bits"),
        (compressed(at(0), "cam", depth_header() + png(MM), "16UC1; compressedDepth rvl"), "RVL"),
        (compressed(at(0), "cam", png(MM), "32FC1; png compressed"), "compressedDepth"),
    ],
)
def test_what_is_no_depth_image_is_said(message: object, said: str) -> None:
    with pytest.raises(ContractError, match=said):
        depth_image(message)
