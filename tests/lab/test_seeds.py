import subprocess
import sys

import numpy as np
import pytest

from mrac import ContractError
from mrac.lab.seeds import anchors_hash, generator


def test_the_same_in_every_process() -> None:
    code = "from mrac.lab.seeds import generator; print(generator('nyu', '0009', 0, 'anchors').integers(0, 2**63, 3))"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed}
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert said == {f"{generator('nyu', '0009', 0, 'anchors').integers(0, 2**63, 3)}\n"}
    # Written down: a change would move every anchor of every published result.
    assert generator("nyu", "0009", 0, "anchors").bit_generator.random_raw() == 8169305676970798010


def test_everything_that_names_a_draw_changes_it() -> None:
    names = [
        ("nyu", "1", 0), ("nyu", "1", 1), ("nyu", "2", 0), ("tum", "1", 0), ("nyu", "1", -1), ("ny", "u1", 0),
        ("nyu", "1", 0, "anchors"), ("nyu", "1", 0, "outliers", "near"), ("nyu", "1", 0, "outliers", "dropout"),
        ("nyu", "1", 0, "outliersnear"),
    ]  # fmt: skip
    first = {generator(*name).bit_generator.random_raw() for name in names}  # type: ignore[arg-type]
    assert len(first) == len(names)
    assert generator("nyu", "1", np.int64(1)).random() == generator("nyu", "1", 1).random()  # type: ignore[arg-type]


def test_the_hash_is_of_positions_values_and_order() -> None:
    uv_px, z_m = np.array([[1, 2], [3, 4], [5, 6]]), np.array([1.0, 2.0, np.nan], np.float32)
    same = anchors_hash(uv_px, z_m)
    assert same == anchors_hash(uv_px.astype(np.float64).tolist(), z_m.astype(np.float64))
    assert same == "c6cc55a0c0651e67326e8e0026857c35552053fbece82d1e199cff749d975695"
    others = [
        anchors_hash(uv_px + 1, z_m),
        anchors_hash(uv_px, np.nextafter(z_m, np.float32(9))),
        anchors_hash(uv_px[::-1], z_m),
        anchors_hash(uv_px[:2], z_m[:2]),
        anchors_hash(uv_px.reshape(2, 3), z_m),
    ]
    assert len({same, *others}) == 6
    assert anchors_hash(-0.0 * uv_px, -z_m * 0) == anchors_hash(0 * uv_px, 0 * z_m)


def test_no_numbers_no_hash() -> None:
    with pytest.raises(ContractError, match="anchors_hash: z_m"):
        anchors_hash([[1, 2]], ["far"])
