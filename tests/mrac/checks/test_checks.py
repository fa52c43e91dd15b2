import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import Anchors, ContractError
from mrac.camera import Camera
from mrac.checks import CHECKS, Evidence, find_mistakes, fix
from mrac.conventions import FloatArray
from mrac.space import to_space

SHAPE = H, W = 480, 640
CAMERA = Camera(400, 400, (W - 1) / 2, (H - 1) / 2, W, H)


def log_depth() -> FloatArray:
    """A floor that rises to the right, with a near box on the left: no symmetry."""
    v, u = np.mgrid[0:H, 0:W]
    field = 1.5 - 1.2 * v / H + 0.5 * u / W
    field[200:400, 60:220] = -0.2
    return np.asarray(field, np.float32)


FIELD = log_depth()


def drawn(seed: int = 0, num: int = 50, wrong: float = 0.0) -> Anchors:
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, W, num), rng.integers(0, H, num)
    z = np.exp(FIELD[v, u] + rng.normal(0.0, 0.05, num))
    bad = rng.permutation(num)[: round(wrong * num)]
    z[bad] = rng.uniform(0.5, 7.0, bad.size)
    return Anchors(np.stack([u, v], axis=1), z)


def names(anchors: Anchors, camera: Camera | None = None, metric: bool = True) -> list[str]:
    return [f.name for f in find_mistakes(Evidence(anchors, SHAPE, FIELD, "log_depth", metric, camera))]


def moved(anchors: Anchors, u: FloatArray, v: FloatArray) -> Anchors:
    return Anchors(np.stack([u, v], axis=1), anchors.z_m)


def mistake(name: str, anchors: Anchors) -> Anchors:
    (u, v), uv, z = anchors.uv_px.T, anchors.uv_px, anchors.z_m
    some = np.arange(z.size) % 5 == 0
    made = {
        "mm": Anchors(uv, z * 1000),
        "cm": Anchors(uv, z * 100),
        "km": Anchors(uv, z / 1000),
        "swapped_uv": moved(anchors, v, u),
        "image_size": Anchors((uv + 0.5) / 2 - 0.5, z),
        "image_size larger": Anchors((uv + 0.5) * 2 - 0.5, z),
        "normalised_uv": moved(anchors, (u + 0.5) / W, (v + 0.5) / H),
        "mirrored": moved(anchors, W - 1 - u, v),
        "mirrored down": moved(anchors, u, H - 1 - v),
        "rotated 180": moved(anchors, W - 1 - u, H - 1 - v),
        "rotated 90": moved(anchors, H - 1 - v, u),
        "saturated": Anchors(uv, np.where(some, 10.0, z)),
        "all_equal": Anchors(uv, np.full(z.size, 2.0)),
        "at_border": moved(anchors, np.clip(1.5 * u - W / 4, 0, W - 1), np.clip(1.5 * v - H / 4, 0, H - 1)),
    }
    return made[name]


@pytest.mark.parametrize("wrong", [0.0, 0.25])
@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("mm", "units"),
        ("cm", "units"),
        ("km", "units"),
        ("swapped_uv", "swapped_uv"),
        ("image_size", "image_size"),
        ("image_size larger", "image_size"),
        ("normalised_uv", "normalised_uv"),
        ("mirrored", "mirrored"),
        ("mirrored down", "mirrored"),
        ("rotated 180", "rotated"),
        ("rotated 90", "rotated"),
        ("saturated", "saturated"),
        ("all_equal", "all_equal"),
        ("at_border", "at_border"),
    ],
)
def test_a_mistake_is_noticed_by_its_name(made: str, name: str, wrong: float) -> None:
    assert name in CHECKS
    assert name in names(mistake(made, drawn(wrong=wrong)))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), num=st.integers(1, 400), wrong=st.sampled_from([0.0, 0.25, 0.4]))
def test_nothing_is_noticed_where_there_is_no_mistake(seed: int, num: int, wrong: float) -> None:
    assert names(drawn(seed, num, wrong), CAMERA) == []


def test_ray_lengths_are_noticed_with_a_camera() -> None:
    anchors = drawn(num=200)
    uv = anchors.uv_px
    exact = np.exp(FIELD[uv[:, 1].astype(int), uv[:, 0].astype(int)])
    lengths = Anchors(uv, exact * np.linalg.norm(CAMERA.rays(uv), axis=1))
    assert names(lengths, CAMERA) == ["range_not_z"]
    assert names(lengths) == []
    assert names(Anchors(uv, exact), CAMERA) == []


@pytest.mark.parametrize("space", ["depth", "inverse_depth"])
def test_other_networks_say_where_readings_lie(space: str) -> None:
    field = (3.0 * to_space(np.exp(FIELD), space) + 0.5).astype(np.float32)  # type: ignore[arg-type]

    def found(anchors: Anchors) -> list[str]:
        return [f.name for f in find_mistakes(Evidence(anchors, SHAPE, field, space))]  # type: ignore[arg-type]

    assert found(drawn()) == []
    assert found(mistake("mirrored", drawn())) == ["mirrored"]
    assert "units" in found(mistake("mm", drawn()))


def test_without_relative_depth_positions_outside_tell() -> None:
    def found(anchors: Anchors) -> list[str]:
        return [f.name for f in find_mistakes(Evidence(anchors, SHAPE))]

    assert found(drawn()) == []
    assert found(mistake("swapped_uv", drawn())) == ["swapped_uv"]
    assert found(mistake("image_size larger", drawn())) == ["image_size"]
    assert found(mistake("mirrored", drawn())) == []


def test_feet_are_noticed_by_the_range_of_the_sensor() -> None:
    feet = Anchors(drawn().uv_px, drawn().z_m / 0.3048)
    assert names(feet) == []
    assert [f.name for f in find_mistakes(Evidence(feet, SHAPE, FIELD, metric=True, max_range_m=4.5))] == ["units"]


def test_depth_of_coarse_steps_is_not_saturated() -> None:
    rng = np.random.default_rng(0)
    wall = Anchors(drawn().uv_px, 3.0 + 0.04 * rng.integers(0, 4, 50))
    assert "saturated" not in names(wall)


@pytest.mark.parametrize(
    "anchors",
    [
        Anchors([], []),
        Anchors([[1, 2]], [np.nan]),
        Anchors([[np.nan, 2], [3, np.inf]], [1.0, -1.0]),
        Anchors([[5, 5]] * 20, np.linspace(1, 2, 20)),
    ],
)
def test_odd_readings_raise_nothing(anchors: Anchors) -> None:
    assert names(anchors, CAMERA) == []


def test_readings_are_compared_in_the_size_of_the_image() -> None:
    anchors = drawn(num=200)
    exact = np.exp(FIELD[anchors.uv_px[:, 1].astype(int), anchors.uv_px[:, 0].astype(int)])
    lengths = Anchors(anchors.uv_px, exact * np.linalg.norm(CAMERA.rays(anchors.uv_px), axis=1))
    assert names(lengths, CAMERA.resized(W // 2, H // 2)) == ["range_not_z"]


@pytest.mark.parametrize(
    ("made", "name"),
    [("mm", "units"), ("cm", "units"), ("swapped_uv", "swapped_uv"), ("normalised_uv", "normalised_uv"),
     ("image_size", "image_size"), ("image_size larger", "image_size")],
)  # fmt: skip
def test_fix_gives_the_readings_back(made: str, name: str) -> None:
    anchors = drawn()
    wrong = mistake(made, anchors)
    fixed = fix(wrong, (W, H), [name], Evidence(wrong, SHAPE, FIELD, metric=True))
    np.testing.assert_allclose(fixed.uv_px, anchors.uv_px, atol=1e-9)
    np.testing.assert_allclose(fixed.z_m, anchors.z_m)
    assert fix(anchors, (W, H), [name], Evidence(anchors, SHAPE, FIELD, metric=True)) is anchors


def test_fix_takes_a_stated_unit_and_keeps_the_rest() -> None:
    anchors = Anchors([[1, 2]], [10.0], [1.0], extent_px=[[4, 6]], confidence=[0.5], flag=["late"])
    fixed = fix(anchors, (W, H), ["units=feet"])
    assert fixed.sigma_m is not None
    assert (fixed.z_m[0], fixed.sigma_m[0]) == pytest.approx((3.048, 0.3048))
    assert [x is None for x in (fixed.extent_px, fixed.confidence, fixed.flag)] == [False] * 3


@pytest.mark.parametrize("name", ["mirrored", "units=yards", "swapped_uv=1"])
def test_fix_refuses_what_it_cannot(name: str) -> None:
    with pytest.raises(ContractError, match="fix"):
        fix(drawn(), (W, H), [name])


@settings(max_examples=60, deadline=None)
@given(
    z=st.lists(st.floats(), min_size=1, max_size=40),
    fill=st.sampled_from([0.0, 1e-38, -1e38, 3e38, 1.0]),
    space=st.sampled_from(["depth", "inverse_depth", "log_depth"]),
)
def test_no_reading_and_no_field_is_too_extreme(z: list[float], fill: float, space: str) -> None:
    field = np.full((48, 64), fill, np.float32)
    field[:24] = 0.5
    uv = np.random.default_rng(len(z)).uniform(-5, 70, (len(z), 2))
    find_mistakes(Evidence(Anchors(uv, z), (48, 64), field, space, True, CAMERA))  # type: ignore[arg-type]
