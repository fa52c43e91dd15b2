from collections.abc import Callable

import numpy as np
import pytest

from mrac import Anchors
from mrac.demo import motorcycle
from mrac.errors import ContractError
from mrac.web.catalogue import FAMILIES
from mrac.web.corruption import max_range_m
from mrac.web.examples import load_example
from mrac.web.recipe import Recipe, readings_of
from mrac.web.scenes import MAX_WORKING_PIXELS, Scene
from tests.conftest import MadeScene


@pytest.fixture
def scene(make_scene: Callable[..., MadeScene]) -> Scene:
    made = make_scene(shape=(60, 80))
    depth = Anchors.from_depth_map(made.depth_m, image_size=(80, 60))
    return Scene.of(made.image, "made").with_pool(depth, "depth", "depth")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ([], "an object is needed"),
        ({"kapa": 2}, "no field 'kapa'"),
        ({"kappa": 0}, "from 0.1 to 20"),
        ({"kappa": float("nan")}, "from 0.1 to 20"),
        ({"share": "0.5"}, "a number"),
        ({"num_readings": 2.5}, "a whole number"),
        ({"num_readings": True}, "a whole number"),
        ({"num_readings": 10**9}, "from 0 to"),
        ({"seed": -1}, "a whole number"),
        ({"method": 3}, "text is needed"),
        ({"clicked": [[1, 2]]}, "three numbers"),
        ({"clicked": [[1, 2, float("inf")]]}, "three numbers"),
        ({"clicked": [[1, 2, 10**400]]}, "three numbers"),
        ({"clicked": ["x" * 1000]}, r"^.{1,200}$"),
        ({"clicked": "1,2,3"}, "a list"),
        ({"clicked": [[1, 2, 3]] * 501}, "at most 500"),
    ],
)
def test_a_broken_recipe_is_refused_with_the_reason(fields: object, words: str) -> None:
    with pytest.raises(ContractError, match=words):
        Recipe.of(fields)


def test_whole_numbers_may_come_as_floats_and_no_focal_length_is_allowed() -> None:
    assert Recipe.of({"num_readings": 7.0, "focal_px": None, "kappa": 3}) == Recipe(num_readings=7, kappa=3.0)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_asked_share_is_wrong_and_the_rest_is_untouched(scene: Scene, family: str) -> None:
    made = readings_of(scene, Recipe(num_readings=40, family=family, share=0.25, seed=3))
    assert len(made.anchors) == 40
    assert made.wrong.sum() == 10
    assert np.array_equal(made.anchors.z_m[~made.wrong], made.true_m[~made.wrong])
    assert (made.anchors.z_m[made.wrong] != made.true_m[made.wrong]).mean() > 0.8
    assert scene.pool is not None
    if family == "near":
        assert (made.anchors.z_m[made.wrong] < 0.61 * made.true_m[made.wrong]).all()
    if family == "dropout":
        assert set(made.anchors.z_m[made.wrong]) == {max_range_m(scene.pool.depth_m)}


def test_the_same_recipe_gives_the_same_readings_and_another_seed_others(scene: Scene) -> None:
    first, again, other = (readings_of(scene, Recipe(share=0.3, seed=seed)).anchors for seed in (1, 1, 2))
    assert np.array_equal(first.uv_px, again.uv_px)
    assert np.array_equal(first.z_m, again.z_m)
    assert not np.array_equal(first.uv_px, other.uv_px)


def test_as_many_as_there_are_keep_their_order(scene: Scene) -> None:
    assert scene.pool is not None
    made = readings_of(scene, Recipe(num_readings=5000))
    assert np.array_equal(made.anchors.uv_px, scene.pool.anchors.uv_px)


def test_clicked_readings_come_last_with_what_columns_the_others_have() -> None:
    image = np.zeros((40, 50, 3), np.uint8)
    pool = Anchors(
        [[3, 4], [5, 6]], [1, 2], [0.1, 0.3], extent_px=[[4, 4], [4, 4]], confidence=[1, 0.5], flag=["", "far"]
    )
    scene = Scene.of(image, "made").with_pool(pool, "zones.json", "zones")
    made = readings_of(scene, Recipe(clicked=((7.0, 8.0, 3.5),)))
    assert made.num_clicked == 1
    assert made.anchors.z_m.tolist() == [1, 2, 3.5]
    assert made.anchors.sigma_m is not None
    assert made.anchors.sigma_m.tolist() == [0.1, 0.3, 0.2]
    assert made.anchors.extent_px is not None
    assert made.anchors.extent_px[-1].tolist() == [0, 0]
    assert made.anchors.confidence is not None
    assert made.anchors.flag is not None
    assert (made.anchors.confidence[-1], made.anchors.flag[-1]) == (1, "")


def test_without_readings_there_are_those_that_were_clicked() -> None:
    scene = Scene.of(np.zeros((40, 50, 3), np.uint8), "made")
    assert len(readings_of(scene, Recipe(share=0.5)).anchors) == 0
    assert readings_of(scene, Recipe(clicked=((1.0, 2.0, 3.0),))).anchors.z_m.tolist() == [3]


def test_the_demo_s_own_readings_are_drawn() -> None:
    demo = motorcycle(num_anchors=50, wrong_fraction=0.25, seed=0)
    made = readings_of(load_example("motorcycle"), Recipe(num_readings=50, family="near", share=0.25, seed=0))
    assert np.array_equal(made.anchors.uv_px, demo.anchors.uv_px)
    assert np.array_equal(made.anchors.z_m, demo.anchors.z_m)
    assert np.array_equal(made.wrong, demo.wrong)


def test_a_large_picture_is_made_smaller_and_its_readings_are_moved() -> None:
    image = np.zeros((1500, 2000, 3), np.uint8)
    scene = Scene.of(image, "large")
    assert scene.size[0] * scene.size[1] <= MAX_WORKING_PIXELS * 1.01
    factor = scene.size[0] / 2000
    moved = scene.with_pool(Anchors([[-0.5, -0.5], [1999.5, 1499.5]], [1, 2]), "a.csv", "table").pool
    assert moved is not None
    assert np.allclose(moved.anchors.uv_px[0], -0.5)
    assert np.allclose(moved.anchors.uv_px[1], (scene.size[0] - 0.5, scene.size[1] - 0.5))
    assert factor < 1


def test_a_tiny_picture_is_refused() -> None:
    with pytest.raises(ContractError, match="at least 16"):
        Scene.of(np.zeros((8, 300, 3), np.uint8), "a.png")
