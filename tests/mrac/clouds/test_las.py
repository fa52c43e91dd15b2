import os
import sys
from pathlib import Path

import numpy as np
import pytest

from mrac.clouds import read_cloud
from mrac.errors import ContractError, MissingExtra

FOLDER = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data")) / "raw" / "las"


@pytest.fixture
def files() -> tuple[Path, Path]:
    pytest.importorskip("laspy")
    pytest.importorskip("lazrs")
    if not FOLDER.is_dir():
        pytest.skip("the data packs are not here")
    return FOLDER / "simple.las", FOLDER / "simple.laz"


def test_plain_and_compressed_hold_the_same_points(files: tuple[Path, Path]) -> None:
    plain, packed = (read_cloud(path) for path in files)
    assert len(plain) == 1065
    np.testing.assert_array_equal(plain.xyz_m, packed.xyz_m)
    np.testing.assert_array_equal(plain.rgb, packed.rgb)
    np.testing.assert_array_equal(plain.intensity, packed.intensity)
    # As laspy itself scales the stored integers, of which the first are in the file's first record.
    raw = files[0].read_bytes()
    start = int.from_bytes(raw[96:100], "little")
    scale, offset = np.frombuffer(raw[131:155], "<f8"), np.frombuffer(raw[155:179], "<f8")
    np.testing.assert_allclose(plain.xyz_m[0], np.frombuffer(raw[start : start + 12], "<i4") * scale + offset)


def test_a_point_cloud_made_by_laspy_with_sixteen_bit_colours(tmp_path: Path) -> None:
    laspy = pytest.importorskip("laspy")
    made = laspy.create(point_format=2)
    made.header.scales = (0.001, 0.001, 0.001)
    made.x, made.y, made.z = [1.5, 2.0], [3.0, -1.0], [0.25, 8.0]
    made.red, made.green, made.blue = [65535, 0], [32768, 256], [0, 255]
    made.write(tmp_path / "a.las")
    cloud = read_cloud(tmp_path / "a.las")
    np.testing.assert_allclose(cloud.xyz_m, [[1.5, 3.0, 0.25], [2.0, -1.0, 8.0]], atol=1e-9)
    np.testing.assert_array_equal(cloud.rgb, [[255, 128, 0], [0, 1, 0]])


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.8])
def test_a_file_cut_short_is_one_line(files: tuple[Path, Path], tmp_path: Path, which: int, share: float) -> None:
    raw = files[which].read_bytes()
    path = tmp_path / f"cut{files[which].suffix}"
    path.write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(ContractError, match="cut") as caught:
        read_cloud(path)
    assert "\n" not in str(caught.value)


def test_a_number_of_points_that_the_file_cannot_hold_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    raw = bytearray(files[0].read_bytes())
    raw[107:111] = (2_000_000_000).to_bytes(4, "little")
    (tmp_path / "a.las").write_bytes(raw)
    with pytest.raises(ContractError, match=r"a\.las is cut short: 2000000000 points"):
        read_cloud(tmp_path / "a.las")


def test_without_laspy_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "laspy", None)
    (tmp_path / "a.las").write_bytes(b"LASF")
    with pytest.raises(MissingExtra, match=r"mrac-depth\[sensors\]"):
        read_cloud(tmp_path / "a.las")
