from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac import ContractError
from mrac.io.video import num_frames, read_video

av = pytest.importorskip("av")


CODECS = {".mkv": ("ffv1", "bgr0"), ".avi": ("ffv1", "bgr0"), ".mov": ("qtrle", "rgb24"), ".mp4": ("mpeg4", "yuv420p")}


def write_video(path: Path, frames: list[NDArray[np.uint8]]) -> None:
    """Lossless but for .mp4, so that pixels can be compared."""
    codec, stored = CODECS[path.suffix]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=Fraction(25))
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = stored
        for pixels in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format=stored)))
        container.mux(stream.encode())


def made_frames(num: int, shape: tuple[int, int] = (40, 60)) -> list[NDArray[np.uint8]]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 255, (*shape, 3), dtype=np.uint8) for _ in range(num)]


@pytest.mark.parametrize("suffix", [".mkv", ".avi", ".mov"])
def test_frames_come_back_in_order(tmp_path: Path, suffix: str) -> None:
    path, frames = tmp_path / f"a{suffix}", made_frames(7)
    write_video(path, frames)
    np.testing.assert_array_equal(list(read_video(path)), frames)
    assert num_frames(path) == 7


def test_a_lossy_one_has_its_frames_in_order_too(tmp_path: Path) -> None:
    frames = [np.full((64, 96, 3), 20 * i + 30, np.uint8) for i in range(8)]
    write_video(tmp_path / "a.mp4", frames)
    found = list(read_video(tmp_path / "a.mp4"))
    assert [picture.shape for picture in found] == [(64, 96, 3)] * 8
    np.testing.assert_allclose([picture.mean() for picture in found], [f.mean() for f in frames], atol=4)


def test_it_is_decoded_as_it_is_asked_for_and_closed_early(tmp_path: Path) -> None:
    frames = made_frames(50)
    write_video(tmp_path / "a.mkv", frames)
    found = read_video(tmp_path / "a.mkv")
    np.testing.assert_array_equal(next(found), frames[0])
    found.close()  # type: ignore[attr-defined]
    assert list(found) == []


def test_what_is_no_video_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"missing\.mp4: no such file"):
        read_video(tmp_path / "missing.mp4")
    (tmp_path / "a.mp4").write_bytes(b"not a video at all" * 100)
    with pytest.raises(ContractError, match=r"a\.mp4: not a readable video"):
        num_frames(tmp_path / "a.mp4")
