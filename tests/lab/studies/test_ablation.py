"""The ablation on the evaluation sets: which networks, by which method, and what the table says of their scores."""

from pathlib import Path

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.methods import parse_method
from mrac.lab.studies.ablation import REFERENCE, markdown, method_of, networks_in, table


def network(folder: Path, seed: int, row: str, suffix: str = "") -> Path:
    path = folder / f"seed{seed}" / row / f"{row}{suffix}.onnx"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    return path


def test_every_row_and_seed_is_found(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no seedN/ROW/ROW"):
        networks_in(tmp_path)
    paths = {(row, f"seed{s}"): network(tmp_path, s, row) for row in ("raw_full", "residual_no_cwa") for s in (0, 1)}
    assert networks_in(tmp_path) == paths


def test_a_row_is_run_by_the_head_it_was_trained_for(tmp_path: Path) -> None:
    raw = method_of("raw_no_cwa", network(tmp_path, 0, "raw_no_cwa"))
    assert parse_method(raw).name == "raw_depth"
    assert parse_method(raw).stages["head"].startswith("raw_unet:weights=/")
    residual = method_of("residual_full", network(tmp_path, 0, "residual_full", "_inverse"))
    assert parse_method(residual).name == "vanilla"
    assert parse_method(residual).stages["foundation"] == "embedded:space=inverse_depth"


def test_means_are_over_images_and_then_over_seeds() -> None:
    row_of = {"a0": ("raw_full", "seed0"), "a1": ("raw_full", "seed1"), REFERENCE: (REFERENCE, "")}
    scores = [("a0", 0.1), ("a0", 0.3), ("a1", 0.3), ("a1", 0.5), (REFERENCE, 0.2), ("other", 9.0), ("a0", None)]
    found = table([{"set": "nyu", "method": m, "abs_rel": e} for m, e in scores], row_of)
    assert found["raw_full"]["nyu"] == {
        "abs_rel": pytest.approx(0.3), "std": pytest.approx(0.02**0.5), "seeds": 2, "images": 2
    }  # fmt: skip
    assert found[REFERENCE]["nyu"] == {"abs_rel": 0.2, "seeds": 1, "images": 1}
    assert "| raw_full | 0.3000 ± 0.1414 |" in markdown(found)
