from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.conventions import ImageArray
from mrac.foundation._cached import predict, prediction_key
from mrac.foundation.base import Foundation
from mrac.result.folder import report_of
from mrac.runtime.cache import PredictionCache

IMAGE = np.random.default_rng(0).integers(0, 256, (12, 16, 3), dtype=np.uint8)


@dataclass
class Counting(Foundation):
    """Gives the red channel, with a hole, and counts how often it is asked."""

    name: str | None = "counting 1"
    opinion: bool = True
    calls: int = 0

    def __call__(self, image: ImageArray) -> RelativeDepth | None:
        self.calls += 1
        values = image[..., 0].astype(np.float32)
        values[0, 0], values[0, 1] = np.nan, np.inf
        return RelativeDepth(values, "log_depth") if self.opinion else None

    @property
    def identity(self) -> str | None:
        return self.name


def test_the_second_time_is_a_hit_and_the_same(tmp_path: Path) -> None:
    store, foundation = PredictionCache(tmp_path), Counting()
    first, miss = predict(foundation, IMAGE, store)
    second, hit = predict(foundation, IMAGE.copy(), store)
    assert (miss, hit, foundation.calls) == ("miss", "hit", 1)
    assert first is not None
    assert second is not None
    assert first.values.tobytes() == second.values.tobytes()
    assert first.space == second.space == "log_depth"


def test_without_a_store_an_identity_or_an_opinion_nothing_is_kept(tmp_path: Path) -> None:
    store = PredictionCache(tmp_path)
    for foundation, kept_in in ((Counting(), None), (Counting(None), store), (Counting(opinion=False), store)):
        for _ in range(2):
            assert predict(foundation, IMAGE, kept_in)[1] == "off"
        assert foundation.calls == 2
    assert list(tmp_path.iterdir()) == []


def test_another_image_or_foundation_is_another_key(tmp_path: Path) -> None:
    one_pixel = IMAGE.copy()
    one_pixel[-1, -1, -1] ^= 1
    images = [IMAGE, one_pixel, IMAGE.reshape(16, 12, 3), IMAGE[:, ::-1], IMAGE[::2], IMAGE.view(np.int8)]
    keys = [prediction_key(name, image) for name in ("a", "b", "a\n", "") for image in images]  # type: ignore[arg-type]
    assert len(set(keys)) == len(keys)
    store = PredictionCache(tmp_path)
    predict(Counting("a"), IMAGE, store)
    assert predict(Counting("b"), IMAGE, store)[1] == "miss"
    assert predict(Counting("a"), one_pixel, store)[1] == "miss"


@given(first=st.tuples(st.text(), st.binary(min_size=3, max_size=12)), again=st.data())
def test_keys_are_equal_exactly_when_everything_is(first: tuple[str, bytes], again: st.DataObject) -> None:
    def key(identity: str, content: bytes) -> str:
        usable = content[: len(content) // 3 * 3]
        return prediction_key(identity, np.frombuffer(usable, np.uint8).reshape(1, -1, 3))

    second = again.draw(st.one_of(st.just(first), st.tuples(st.text(), st.binary(min_size=3, max_size=12))))
    same = first[0] == second[0] and first[1][: len(first[1]) // 3 * 3] == second[1][: len(second[1]) // 3 * 3]
    assert (key(*first) == key(*second)) == same


def test_a_view_and_its_copy_are_one_image() -> None:
    assert prediction_key("a", IMAGE[:, ::-1]) == prediction_key("a", IMAGE[:, ::-1].copy())


@pytest.mark.parametrize("kind", ["store", "path", "text"])
def test_the_calibrator_takes_a_store_or_a_folder(kind: str, tmp_path: Path) -> None:
    kinds: dict[str, PredictionCache | Path | str] = {
        "store": PredictionCache(tmp_path),
        "path": tmp_path,
        "text": str(tmp_path),
    }
    foundation = Counting()
    anchors = Anchors([[3, 3], [9, 9], [12, 5], [6, 10]], [1.0, 2.0, 3.0, 2.5])
    calibrator = Calibrator(foundation=foundation, cache=kinds[kind])
    first, second = calibrator(IMAGE, anchors), calibrator(IMAGE, anchors)
    assert (first.cache, second.cache, foundation.calls) == ("miss", "hit", 1)
    assert report_of(second)["cache"] == "hit"
    np.testing.assert_array_equal(first.depth_m, second.depth_m)
    assert Calibrator(foundation=foundation)(IMAGE, anchors).cache == "off"


def test_a_field_that_the_call_brings_is_not_kept(tmp_path: Path) -> None:
    foundation = Counting()
    relative = RelativeDepth(np.linspace(1, 2, 12 * 16).reshape(12, 16), "depth")
    out = Calibrator(foundation=foundation, cache=tmp_path)(IMAGE, Anchors([[3, 3]], [1.0]), relative=relative)
    assert (out.cache, foundation.calls) == ("off", 0)
    assert list(tmp_path.iterdir()) == []
