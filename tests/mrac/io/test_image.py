import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image, ImageOps

from mrac import ContractError
from mrac.io.image import read_image

GREY = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
COLOUR = np.dstack([GREY, GREY[::-1], 255 - GREY])
DEEP = GREY.astype(np.uint16) * 257


def write_png(path: Path, pixels: NDArray[np.uint16], kind: int, claims: tuple[int, int] | None = None) -> None:
    """A 16-bit PNG of any colour `kind` (0 grey, 2 RGB, 4 grey + alpha, 6 RGBA), which Pillow itself cannot write.

    `claims` is the (width, height) that its header states in place of the true one.
    """

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    width, height = claims or (pixels.shape[1], pixels.shape[0])
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, 0))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("a.png", "L"),
        ("a.png", "LA"),
        ("a.png", "RGB"),
        ("a.png", "RGBA"),
        ("a.gif", "P"),
        ("a.png", "P"),
        ("a.tif", "CMYK"),
        ("a.tif", "YCbCr"),
        ("a.webp", "RGB"),
        ("a.bmp", "L"),
    ],
)
def test_pictures_of_every_mode_become_rgb(name: str, mode: str, tmp_path: Path) -> None:
    grey = mode in ("L", "LA", "P")
    Image.fromarray(GREY if grey else COLOUR).convert(mode).save(tmp_path / name, lossless=True)
    image = read_image(tmp_path / name)
    assert image.dtype == np.uint8
    assert image.flags.writeable
    np.testing.assert_allclose(image.astype(int), np.dstack([GREY] * 3) if grey else COLOUR, atol=3)


def test_a_cmyk_jpeg_as_cameras_and_printers_write_it(tmp_path: Path) -> None:
    Image.new("CMYK", (16, 16), (0, 255, 255, 0)).save(tmp_path / "a.jpg", quality=100)
    np.testing.assert_allclose(read_image(tmp_path / "a.jpg").mean(axis=(0, 1)), [255, 0, 0], atol=3)


def test_one_bit_is_black_and_white(tmp_path: Path) -> None:
    Image.fromarray(GREY > 100).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png")[..., 1], np.where(GREY > 100, 255, 0))


def test_colours_under_alpha_are_kept(tmp_path: Path) -> None:
    Image.fromarray(np.dstack([COLOUR, np.zeros_like(GREY)])).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), COLOUR)
    Image.fromarray(GREY).convert("P").save(tmp_path / "b.png", transparency=bytes([0, 128, 255]))
    np.testing.assert_array_equal(read_image(tmp_path / "b.png")[..., 2], GREY)


@pytest.mark.parametrize(("kind", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_a_16_bit_png_is_scaled(kind: int, channels: int, tmp_path: Path) -> None:
    colour = channels >= 3
    pixels = COLOUR.astype(np.uint16) * 257 if colour else DEEP[..., None]
    opaque = np.full((3, 4, 1), 65535, np.uint16)
    write_png(
        tmp_path / "a.png",
        np.concatenate([pixels, opaque], axis=2)[..., :channels] if channels in (2, 4) else pixels,
        kind,
    )
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), COLOUR if colour else np.dstack([GREY] * 3))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("colour", [False, True])
def test_a_16_bit_tiff_is_scaled(order: Literal["<", ">"], colour: bool, tmp_path: Path) -> None:
    pixels = COLOUR.astype(np.uint16) * 257 if colour else DEEP
    tifffile.imwrite(tmp_path / "a.tif", pixels, byteorder=order, photometric="rgb" if colour else "minisblack")
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif"), COLOUR if colour else np.dstack([GREY] * 3))


def test_a_16_bit_pgm_is_scaled(tmp_path: Path) -> None:
    (tmp_path / "a.pgm").write_bytes(b"P5 4 3 65535\n" + DEEP.astype(">u2").tobytes())
    np.testing.assert_array_equal(read_image(tmp_path / "a.pgm")[..., 0], GREY)


@pytest.mark.parametrize("white", [1.0, 255.0, 65535.0])
def test_floats_by_the_least_white_that_holds_them(white: float, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", (GREY / 255 * white).astype(np.float32))
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif")[..., 0], GREY)


def test_a_float_a_little_over_white_is_white(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.array([[0.0, 0.5, 1.01]], np.float32))
    assert read_image(tmp_path / "a.tif")[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (np.array([[-0.5, 0.5]], np.float32), "from -0.5 to 0.5"),
        (np.array([[np.nan, 0.5]], np.float32), "nan"),
        (np.array([[0.0, np.inf]], np.float32), "inf"),
        (np.array([[0, 70000]], np.int32), "from 0 to 70000"),
        (np.array([[-1, 70]], np.int32), "from -1 to 70"),
    ],
)
def test_numbers_that_are_no_brightness_are_refused(values: NDArray[np.float32], says: str, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", values)
    with pytest.raises(ContractError, match=f"{says}.*0 to 1, 255 or 65535"):
        read_image(tmp_path / "a.tif")


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "a.tif"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_is_turned_as_viewers_show_it(name: str, orientation: int, tmp_path: Path) -> None:
    corner = np.zeros((16, 24, 3), np.uint8)
    corner[:8, :8] = 255
    picture = Image.fromarray(corner)
    exif = picture.getexif()
    exif[0x0112] = orientation
    picture.save(tmp_path / name, exif=exif)
    with Image.open(tmp_path / name) as stored:
        shown = np.asarray(ImageOps.exif_transpose(stored).convert("RGB"))
    image = read_image(tmp_path / name)
    np.testing.assert_array_equal(image, shown)
    assert image.shape == ((16, 24, 3) if orientation < 5 else (24, 16, 3))
    # Where the stored first pixel ends up, from the EXIF standard: row 0 is that side, column 0 is that side.
    top, left = {1: (1, 1), 2: (1, 0), 3: (0, 0), 4: (0, 1), 5: (1, 1), 6: (1, 0), 7: (0, 0), 8: (0, 1)}[orientation]
    assert image[0 if top else -1, 0 if left else -1].min() > 200


def test_16_bits_are_turned_too(tmp_path: Path) -> None:
    picture = Image.fromarray(DEEP)
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(read_image(tmp_path / "a.png")[..., 0], np.rot90(GREY, -1))


@pytest.mark.parametrize("exif", [b"Exif\0\0garbage and more of it", b"", b"\xff" * 40])
def test_broken_exif_leaves_the_picture_as_it_lies(exif: bytes, tmp_path: Path) -> None:
    Image.fromarray(COLOUR).save(tmp_path / "a.jpg", exif=exif)
    assert read_image(tmp_path / "a.jpg").shape == (3, 4, 3)


@pytest.mark.parametrize("name", ["a.gif", "a.tif", "a.webp", "a.png"])
def test_of_several_frames_the_first_is_read(name: str, tmp_path: Path) -> None:
    first, second = Image.new("RGB", (8, 6), "white"), Image.new("RGB", (8, 6), "black")
    first.save(tmp_path / name, save_all=True, append_images=[second])
    assert read_image(tmp_path / name).min() > 250


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "a.gif", "a.webp", "a.bmp"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.9])
def test_a_file_cut_short_is_named(name: str, share: float, tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ContractError, match=rf"{name}: not a readable image") as error:
        read_image(tmp_path / name)
    assert "\n" not in str(error.value)


def test_what_is_no_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"not a picture")
    with pytest.raises(ContractError, match=r"a\.jpg: not a readable image"):
        read_image(tmp_path / "a.jpg")
    with pytest.raises(ContractError, match=r"b\.jpg: no such file"):
        read_image(tmp_path / "b.jpg")
    with pytest.raises(ContractError, match="is a folder"):
        read_image(tmp_path)


def test_two_gigapixels_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    write_png(tmp_path / "bomb.png", np.zeros((1, 4), np.uint16), 0, claims=(50_000, 40_000))
    with pytest.raises(ContractError, match=r"bomb\.png: more than 178 megapixels.*Shrink it") as error:
        read_image(tmp_path / "bomb.png")
    assert "\n" not in str(error.value)


def test_a_hundred_megapixels_are_not_taken_for_a_bomb(tmp_path: Path) -> None:
    write_png(tmp_path / "a.png", np.zeros((1, 4), np.uint16), 0, claims=(10_000, 10_000))
    with pytest.raises(ContractError, match="not a readable image"):  # since it holds four pixels, not for its size
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("make", [lambda path: path.write_bytes(b""), lambda path: path.mkdir()])
def test_an_empty_file_and_a_folder(make: Callable[[Path], object], tmp_path: Path) -> None:
    make(tmp_path / "a.png")
    with pytest.raises(ContractError, match=r"a\.png: (not a readable image|is a folder)"):
        read_image(tmp_path / "a.png")
