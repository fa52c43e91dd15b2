import numpy as np
import pytest

from mrac.vi_depth.resize import learner_shape, resize_cubic

# From running VI-Depth: the frame, then the input of the learner; all (w, h).
KITTI = [(1242, 375), (1241, 376), (1238, 374), (1226, 370), (1224, 370)]
SIZES = [
    ((640, 480), (384, 288)),
    *((frame, (384, 128)) for frame in KITTI),
    ((1216, 352), (384, 96)),
    ((480, 640), (288, 384)),
    ((1920, 1080), (384, 224)),
    ((1600, 900), (384, 224)),
    ((1024, 768), (384, 288)),
    ((1280, 960), (384, 288)),
    ((256, 192), (384, 288)),
]


@pytest.mark.parametrize(("frame", "size"), SIZES)
def test_sizes_are_those_that_vi_depth_was_seen_to_use(frame: tuple[int, int], size: tuple[int, int]) -> None:
    assert learner_shape(frame[::-1])[::-1] == size


@pytest.mark.parametrize("frame", [(1, 1), (1, 1000), (1000, 1), (31, 33), (383, 385), (384, 384), (10, 239)])
def test_any_frame_has_a_size(frame: tuple[int, int]) -> None:
    h, w = learner_shape(frame)
    assert h % 32 == w % 32 == 0
    assert 32 <= min(h, w) <= max(h, w) == 384


@pytest.mark.lab
@pytest.mark.parametrize("shape", [(288, 384), (5, 300), (32, 32), (97, 3), (1, 1)])
def test_resizes_as_torch_s_bicubic(shape: tuple[int, int]) -> None:
    import torch  # noqa: PLC0415

    values = np.random.default_rng(0).uniform(0.1, 10.0, (97, 131)).astype(np.float32)
    exact = torch.from_numpy(values).double()[None, None]  # in single precision its positions are off by 1e-5 pixels
    expected = torch.nn.functional.interpolate(exact, shape, mode="bicubic", align_corners=False)[0, 0].numpy()
    got = resize_cubic(values, shape)
    assert got.dtype == np.float32
    assert got.flags.c_contiguous
    np.testing.assert_allclose(got, expected, atol=1e-5)
