from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import ContractError
from mrac.foundation.precomputed import Precomputed

IMAGE = np.zeros((6, 8, 3), np.uint8)
FIELD = np.arange(48.0).reshape(6, 8)


def test_npz_states_its_space(tmp_path: Path) -> None:
    np.savez(tmp_path / "r.npz", values=FIELD, space="log_depth")
    relative = Precomputed(str(tmp_path / "r.npz"))(IMAGE)
    assert relative.space == "log_depth"
    np.testing.assert_array_equal(relative.values, FIELD)
    assert Precomputed(str(tmp_path / "r.npz"), "depth")(IMAGE).space == "depth"


def test_npy_is_inverse_depth_unless_told(tmp_path: Path) -> None:
    np.save(tmp_path / "r.npy", FIELD.astype(np.float16))
    assert Precomputed(str(tmp_path / "r.npy"))(IMAGE).space == "inverse_depth"


def test_zero_in_a_png_is_far_in_inverse_depth_and_missing_in_depth(tmp_path: Path) -> None:
    Image.fromarray(FIELD.astype(np.uint16)).save(tmp_path / "r.png")
    path = str(tmp_path / "r.png")
    assert Precomputed(path)(IMAGE).values[0, 0] == 0.0
    assert np.isnan(Precomputed(path, "depth")(IMAGE).values[0, 0])


def test_smaller_fields_are_enlarged(tmp_path: Path) -> None:
    np.save(tmp_path / "r.npy", np.tile(np.arange(4.0), (3, 1)))
    values = Precomputed(str(tmp_path / "r.npy"))(IMAGE).values
    assert values.shape == (6, 8)
    np.testing.assert_allclose(values[0], [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3], atol=1e-6)


def test_another_shape_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "r.npy", np.zeros((6, 20)))
    with pytest.raises(ContractError, match=r"20×6.*8×6.*aspect"):
        Precomputed(str(tmp_path / "r.npy"))(IMAGE)


@pytest.mark.parametrize("name", ["r.npy", "r.npz", "r.png", "r.tiff"])
def test_broken_files_are_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"nonsense")
    with pytest.raises(ContractError, match=name):
        Precomputed(str(tmp_path / name))(IMAGE)


def test_whole_numbers_in_an_array_are_values_like_any_other(tmp_path: Path) -> None:
    np.save(tmp_path / "r.npy", np.arange(-24, 24).reshape(6, 8))
    assert np.isfinite(Precomputed(str(tmp_path / "r.npy"), "log_depth")(IMAGE).values).all()
