from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from mrac.batch_jobs.job import Outcome
from mrac.batch_jobs.manifest import held
from mrac.batch_jobs.parquet_rows import row_content
from mrac.batch_jobs.run import list_frames
from mrac.batch_jobs.stages import perform
from mrac.errors import ContractError
from tests.mrac.batch_jobs.frames import SIZE, small_job, write_frames


def write_table(folder: Path, number: int, **replaced: Any) -> Path:
    """The frames of `write_frames` as rows, with bytes of images."""
    write_frames(folder, number)
    tables = [np.loadtxt(path, delimiter=",", skiprows=1) for path in sorted(folder.glob("*.csv"))]
    columns: dict[str, Any] = {
        "id": [path.stem for path in sorted(folder.glob("*.png"))],
        "image": [path.read_bytes() for path in sorted(folder.glob("*.png"))],
        **{name: [table[:, k] for table in tables] for k, name in enumerate(("u_px", "v_px", "z_m"))},
    }
    columns = {name: values for name, values in {**columns, **replaced}.items() if values is not None}
    parquet.write_table(pa.table(columns), folder / "frames.parquet", row_group_size=7)
    return folder / "frames.parquet"


def outcomes(out: Path, source: Path, format: str = "npz") -> list[Outcome]:
    with held(out):
        return [perform(small_job(out, format=format), frame) for frame in list_frames([source])]


def test_rows_give_what_files_give(tmp_path: Path) -> None:
    table = write_table(tmp_path / "frames", 40)
    rows = outcomes(tmp_path / "rows", table)
    assert [one.action for one in rows] == ["computed"] * 40
    table.unlink()
    outcomes(tmp_path / "files", tmp_path / "frames")
    for path in (tmp_path / "files").glob("*.npz"):
        assert (tmp_path / "rows" / path.name).read_bytes() == path.read_bytes()
    assert len({one.record.key for one in rows}) == 40


def test_an_image_may_be_a_path(tmp_path: Path) -> None:
    names = ["f000.png", str(tmp_path / "frames" / "f001.png"), "gone.png"]
    table = write_table(tmp_path / "frames", 3, image=None, path=names)
    found = outcomes(tmp_path / "out", table)
    assert [one.action for one in found] == ["computed", "computed", "failed"]
    assert "gone.png" in found[2].record.error
    content, _, anchors = row_content(str(table), 1)
    assert content == (tmp_path / "frames" / "f001.png").read_bytes()
    assert len(anchors) == 9


def test_faults_of_a_table_and_of_a_row(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="z_m is missing"):
        list_frames([write_table(tmp_path / "a", 1, z_m=None)])
    with pytest.raises(ContractError, match="image or path is missing"):
        list_frames([write_table(tmp_path / "b", 1, image=None)])
    (tmp_path / "c.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ContractError, match="not a readable Parquet file"):
        list_frames([tmp_path / "c.parquet"])
    (found,) = outcomes(tmp_path / "out", write_table(tmp_path / "d", 1, z_m=[[1.0, 2.0]]))
    assert "'z_m': 2" in found.record.error


def test_results_as_parquet_are_one_data_set(tmp_path: Path) -> None:
    frames = write_frames(tmp_path / "frames", 3)
    outcomes(tmp_path / "arrays", frames)
    found = outcomes(tmp_path / "parts", frames, "parquet")
    again = outcomes(tmp_path / "again", frames, "parquet")
    assert [one.record for one in found] == [one.record for one in again]
    rows = parquet.read_table(sorted((tmp_path / "parts").glob("*.parquet"))).to_pylist()
    assert [row["id"] for row in rows] == ["f000", "f001", "f002"]
    with np.load(tmp_path / "arrays" / "f001.npz") as arrays:
        depth_m = np.array(rows[1]["depth_m"], np.float32).reshape(rows[1]["height"], rows[1]["width"])
        assert depth_m.shape == SIZE[::-1]
        assert np.array_equal(depth_m, arrays["depth_m"])
        assert rows[1]["keep"] == arrays["keep"].tolist()
