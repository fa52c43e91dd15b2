"""What every registered data set must do, on the official layout that `tests/layouts/<name>.py` writes small."""

import importlib
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import ContractError, registry
from mrac.lab.data import datasets_in
from mrac.lab.data.base import Dataset
from tests.lab.layouts import Written

DATASETS = registry.names("dataset")


@pytest.fixture(scope="module", params=DATASETS)
def laid_out(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, dict[str, Written]]:
    name: str = request.param
    folder = tmp_path_factory.mktemp(name)
    return name, folder, importlib.import_module(f"tests.lab.layouts.{name}").write(folder)


@pytest.fixture
def dataset(laid_out: tuple[str, Path, dict[str, Written]]) -> Dataset:
    name, folder, _ = laid_out
    options = ",set_name=street" if name == "manifest" else ""
    made = registry.create("dataset", f"{name}:folder={folder}{options}")
    assert isinstance(made, Dataset)
    return made


def test_reads_back_what_was_written(dataset: Dataset, laid_out: tuple[str, Path, dict[str, Written]]) -> None:
    written = laid_out[2]
    assert [sample.id for sample in dataset] == list(written)
    for sample in dataset:
        there = written[sample.id]
        np.testing.assert_array_equal(sample.image, there.image)
        np.testing.assert_allclose(sample.truth_m, there.truth_m, rtol=1e-6)
        assert sample.image.dtype == np.uint8
        assert sample.truth_m.dtype == np.float32
        assert sample.scene


def test_scored_pixels_have_truth_within_the_rules(dataset: Dataset) -> None:
    rules = dataset.rules
    assert 0 < rules.min_depth_m < rules.max_depth_m
    assert rules.max_range_m in (10.0, 80.0)
    for sample in dataset:
        scored = sample.truth_m[sample.scored]
        assert sample.scored.dtype == np.bool_
        assert scored.size
        assert rules.min_depth_m < scored.min() <= scored.max() < rules.max_depth_m
        assert not (sample.measured & np.isnan(sample.truth_m)).any()


def test_readings_lie_in_the_image(dataset: Dataset) -> None:
    for sample in dataset:
        H, W = sample.truth_m.shape
        for source in sample.sources:
            readings = sample.readings(source)
            assert len(readings)
            assert (readings.z_m > 0).all()
            assert (readings.uv_px >= -0.5).all()
            assert (readings.uv_px < [W - 0.5, H - 0.5]).all()
        with pytest.raises(ContractError, match="no readings 'radar'"):
            sample.readings("radar")


def test_listing_decodes_nothing(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("decoded")

    with monkeypatch.context() as patch:
        patch.setattr(Image, "open", refuse)
        patch.setattr(np, "load", refuse)
        assert len(dataset) == len({sample.id for sample in dataset}) > 1
    assert dataset[-1].image.size


def test_travels_between_processes(dataset: Dataset) -> None:
    again = pickle.loads(pickle.dumps(dataset))
    assert again == dataset
    np.testing.assert_array_equal(again[0].truth_m, dataset[0].truth_m)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(dataset[1])).image, dataset[1].image)


def test_is_recognised(laid_out: tuple[str, Path, dict[str, Written]]) -> None:
    name, folder, _ = laid_out
    found = datasets_in(folder)
    assert {one.kind for one in found} == {name}
    assert len({one.name for one in found}) == len(found)
    assert all(len(one) for one in found)
    assert [one.name for one in datasets_in(folder, name)] == [one.name for one in found]


@pytest.mark.parametrize("name", DATASETS)
def test_without_data_one_line_says_where_to_get_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(ContractError) as caught:
            len(registry.create("dataset", f"{name}:{folder}"))
        message = str(caught.value)
        assert message.startswith(f"datasets/{name}: no ")
        assert str(folder) in message
        assert "\n" not in message
        if name != "manifest":
            about = registry.load("dataset", name).about
            assert about.source in message
            assert about.layout in message


@pytest.mark.parametrize("name", DATASETS)
def test_a_file_that_is_gone_is_named(name: str, tmp_path: Path) -> None:
    importlib.import_module(f"tests.lab.layouts.{name}").write(tmp_path)
    options = ",set_name=street" if name == "manifest" else ""
    dataset: Dataset = registry.create("dataset", f"{name}:folder={tmp_path}{options}")
    gone = sorted(dataset.entries[0].files.values())[0]
    gone.rename(gone.with_name("elsewhere"))
    for read in ("image", "truth_m"):
        with pytest.raises(ContractError, match=f"no {gone.relative_to(tmp_path)} in"):
            getattr(dataset[0], read)
