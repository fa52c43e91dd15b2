from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from mrac import ContractError
from mrac.lab.train.frames import Frames, load_frames, shrink
from tests.lab.train import tiny

CPU = torch.device("cpu")
HEADER = "set,id,scene,rgb,depth,depth_scale,depth_offset\n"


def write(folder: Path, rows: str, sizes: dict[str, tuple[int, int]]) -> Path:
    """Files `NAME.png` and `NAME_depth.png` of each size (H, W); depth is 2 m everywhere, stored in millimetres."""
    for name, size in sizes.items():
        v, u = np.mgrid[0 : size[0], 0 : size[1]]
        Image.fromarray(np.stack([u % 256, v % 256, 0 * u], axis=2).astype(np.uint8)).save(folder / f"{name}.png")
        Image.fromarray(np.full(size, 2000, np.uint16)).save(folder / f"{name}_depth.png")
    (folder / "manifest.csv").write_text(HEADER + rows)
    return folder


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.tuples(st.integers(12, 40), st.integers(12, 40)))
def test_a_cell_keeps_the_nearest_of_its_readings(seed: int, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    z_m = np.where(rng.random(size) < 0.4, rng.uniform(1, 9, size), rng.choice([0.0, -1.0, np.nan, np.inf], size))
    image = rng.integers(0, 256, (*size, 3)).astype(np.uint8)
    small, nearest = shrink(image, z_m.astype(np.float32), size[0] * size[1] // 4)
    h, w = nearest.shape
    assert small.shape == (h, w, 3)
    assert nearest.dtype == np.float32
    assert h * w == pytest.approx(size[0] * size[1] / 4, rel=0.35)
    cells: dict[tuple[int, int], list[float]] = {}
    for v, u in np.argwhere(z_m > 0):
        cells.setdefault((int(v) * h // size[0], int(u) * w // size[1]), []).append(float(z_m[v, u]))
    for (v, u), value in np.ndenumerate(nearest):
        assert value == pytest.approx(min(cells.get((v, u), [0.0])), rel=1e-6)


def test_halving_averages_colours() -> None:
    image = np.random.default_rng(0).integers(0, 256, (8, 12, 3)).astype(np.uint8)
    small, _ = shrink(image, np.ones((8, 12), np.float32), 4 * 6)
    mean = image.reshape(4, 2, 6, 2, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(small, mean, atol=1)


def test_what_is_small_is_left_alone() -> None:
    image = np.random.default_rng(0).integers(0, 256, (8, 12, 3)).astype(np.uint8)
    z_m = np.array([[1.0, 0.0, -1.0, np.nan, np.inf, 3.0]] * 16, np.float32).reshape(8, 12)
    same, kept = shrink(image, z_m, 96)
    assert same is image
    np.testing.assert_array_equal(kept.ravel()[:6], [1, 0, 0, 0, np.inf, 3])


def test_sky_stays_sky_unless_something_stands_before_it() -> None:
    z_m = np.array([[np.inf, np.inf, np.inf, 7.0, 0.0, 0.0], [np.inf, 0.0, 5.0, np.inf, np.nan, -1.0]], np.float32)
    _, small = shrink(np.zeros((2, 6, 3), np.uint8), z_m, 3)
    np.testing.assert_array_equal(small, [[np.inf, 5.0, 0.0]])


def test_every_set_is_loaded_by_itself(tmp_path: Path) -> None:
    sizes = {"a": (48, 64), "b": (48, 64), "c": (36, 120), "d": (37, 118)}
    rows = (
        "nyu,1,hall:left,a.png,a_depth.png,0.001,0\n"
        "kitti15,3,,c.png,c_depth.png,0.001,0\n"
        "nyu,2,hall:right,b.png,b_depth.png,0.001,0.5\n"
        "kitti15,4,,d.png,d_depth.png,0.001,0\n"
        "other,5,x,a.png,,,\n"
        "other,6,x,a.png,a_depth.png,0.001,0\n"
    )
    nyu, kitti, other = load_frames(write(tmp_path, rows, sizes), CPU, 360 * 480)
    assert [s.set_name for s in (nyu, kitti, other)] == ["nyu", "kitti15", "other"]
    assert nyu.names == ("nyu/1", "nyu/2")
    assert nyu.scenes == ("hall", "hall"), "what follows a colon is the same place"
    assert kitti.scenes == kitti.names, "a frame without a scene is one of its own"
    assert other.names == ("other/6",)
    assert tuple(kitti.images.shape) == (2, 3, 36, 118), "the smallest common size"
    torch.testing.assert_close(kitti.focal_px, torch.full((2,), 118 * 721 / 1242))
    torch.testing.assert_close(other.focal_px, torch.tensor([64 * 0.9]))
    torch.testing.assert_close(nyu.z_m[:, 24, 32], torch.tensor([2.0, 2.0005]))
    assert nyu.images.dtype == torch.uint8
    assert int(nyu.images[0, 0, 5, 33]) == 33
    assert int(nyu.images[0, 1, 5, 33]) == 5


@pytest.mark.parametrize(("name", "margin"), [("nyu", 10), ("elsewhere", 0)])
def test_the_white_margin_of_nyu_has_no_depth(name: str, margin: int, tmp_path: Path) -> None:
    rows = f"{name},1,s,a.png,a_depth.png,0.001,0\n"
    (frames,) = load_frames(write(tmp_path, rows, {"a": (480, 640)}), CPU, 480 * 640)
    known = (frames.z_m[0] > 0).nonzero()
    assert known.min(dim=0).values.tolist() == [margin, margin]
    assert known.max(dim=0).values.tolist() == [479 - margin, 639 - margin]


def test_large_frames_are_shrunk(tmp_path: Path) -> None:
    rows = "a,1,s,a.png,a_depth.png,0.001,0\n"
    (frames,) = load_frames(write(tmp_path, rows, {"a": (480, 640)}), CPU, 120 * 160)
    assert tuple(frames.z_m.shape) == (1, 120, 160)
    torch.testing.assert_close(frames.focal_px, torch.tensor([160 * 0.9]))
    assert bool((frames.z_m == 2.0).all())


def test_frames_are_picked_by_number() -> None:
    frames = tiny.frames(5)
    some = frames.pick([1, 4])
    assert len(some) == 2
    assert some.names == ("a/1", "a/4")
    assert torch.equal(some.images, frames.images[[1, 4]])
    assert torch.equal(some.z_m, frames.z_m[[1, 4]])
    none = frames.pick([])
    assert len(none) == 0
    assert none.set_name == ""
    assert tuple(none.images.shape) == (0, 3, *tiny.SIZE)
    assert isinstance(none, Frames)


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        (None, r"no .*manifest\.csv"),
        ("set,id,rgb\na,1,a.png\n", "no row with a depth file; column `depth` is needed"),
        (HEADER + "a,1,s,a.png,,,\n", "no row with a depth file"),
        (HEADER + "a,1,s,a.png,gone.png,1,0\n", "gone.png: no such file"),
        (HEADER + "a,1,s,gone.png,a_depth.png,1,0\n", "gone.png: no such file"),
        (HEADER + "a,1,s,a.png,manifest.csv,1,0\n", "not a readable image"),
        (HEADER + "a,1,s,a.png,a_depth.png,,0\n", "a/1 has depth_scale = ''; a number is needed"),
        ("set,id,rgb,depth\na,1,a.png,a_depth.png\n", "a/1 has depth_offset = None; a number is needed"),
        (HEADER + "a,1,s,a.png,b_depth.png,1,0\n", r"the image of a/1 is 8 × 6 pixels, its depth of shape \(7, 5\)"),
        (HEADER + "a,1,s,a.png,a.png,1,0\n", r"its depth of shape \(3, 8, 6\)"),
    ],
)
def test_a_wrong_pack_is_one_line(manifest: str | None, says: str, tmp_path: Path) -> None:
    write(tmp_path, "", {"a": (6, 8), "b": (5, 7)})
    (tmp_path / "manifest.csv").unlink()
    if manifest is not None:
        (tmp_path / "manifest.csv").write_text(manifest)
    with pytest.raises(ContractError, match=says) as error:
        load_frames(tmp_path, CPU, 360 * 480)
    assert "\n" not in str(error.value)
