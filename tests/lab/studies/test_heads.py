"""The table of the heads: compared image by image, gone on with where it was killed, of the weights in play."""

from pathlib import Path

import pytest

from mrac.lab.studies.heads import Kept, digest, row


def test_a_row_compares_image_by_image() -> None:
    found = row({"a": 0.1, "b": 0.3}, {"a": 0.2, "b": 0.25})
    assert found["abs_rel"] == pytest.approx(0.2)
    assert found["less_than_affine"] == pytest.approx(0.025)
    assert found["share_better"] == 0.5
    assert found["standard_error_of_less"] == pytest.approx(0.075)


def test_scores_are_kept_one_by_one_and_half_a_line_is_not(tmp_path: Path) -> None:
    first = Kept(tmp_path / "out" / "scores.jsonl")
    first.add("nyu", "vanilla", 50, "nyu/1", 0.125)
    with first.path.open("a") as file:
        file.write('["nyu", "vanilla", 50, "ny')
    again = Kept(first.path)
    assert again.scores == {("nyu", "vanilla", 50): {"nyu/1": 0.125}}
    assert again.has("nyu", "vanilla", 50, "nyu/1")
    assert not again.has("nyu", "vanilla", 5, "nyu/1")
    again.add("nyu", "vanilla", 50, "nyu/2", 0.5)
    assert Kept(first.path).scores == again.scores


def test_scores_belong_to_their_weights(tmp_path: Path) -> None:
    file = tmp_path / "head.onnx"
    file.write_bytes(b"one")
    spec = f"residual_unet:weights={file},num_pixels=9"
    before = digest(["vanilla", spec])
    assert before == digest(["vanilla", spec])
    file.write_bytes(b"two")
    assert digest(["vanilla", spec]) != before
    assert digest(["vanilla"]) not in (before, digest(["vanilla", spec]))
