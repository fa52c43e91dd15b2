import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mrac import Anchors, Calibrator, ContractError, RelativeDepth, registry
from mrac.arguments import check_image
from mrac.conventions import BoolArray, FloatArray
from mrac.gate.base import Gate, LineGate
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.gp.features import ImageAppearance
from mrac.head.base import Head, HeadResult, Scene
from mrac.types import WORST_SCORE, GateResult, Samples
from tests.conftest import MadeScene

IMAGE = np.zeros((20, 30, 3), np.uint8)


def test_the_paper_s_row_is_the_line_in_depth(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    out = Calibrator(gate="theil_sen_mad", fit="ols", head="affine", space="depth")(
        made.image, made.anchors, relative=made.relative
    )
    kept = out.anchors.keep
    rows, columns = made.anchors.uv_px.astype(int).T[::-1]
    x = made.relative.values[rows, columns].astype(np.float64)
    slope, intercept = np.polyfit(x[kept], made.anchors.z_m[kept], 1)
    assert out.fit.scale == pytest.approx(slope, rel=1e-6)
    assert out.space == "depth"
    expected = np.clip(slope * made.relative.values + intercept, 1e-3, 1e4)
    np.testing.assert_allclose(out.depth_m, expected, rtol=1e-4)


def test_the_foundation_s_space_is_the_default(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(space="log_depth")
    out = Calibrator("cfa_ols", space=None)(made.image, made.anchors, relative=made.relative)
    assert out.space == "depth", "the paper's rows fix their space"
    out = Calibrator()(made.image, made.anchors, relative=made.relative)
    assert out.space == "log_depth"


def test_every_unusable_reading_keeps_its_place_and_gets_a_reason() -> None:
    uv: list[list[float]] = [[1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [30, 5], [5, 20], [-0.6, 5]]
    uv += [[1, 1], [29.4, 19.4], [6, 6], [7, np.inf]]
    z = [1.0, np.nan, np.inf, 0.0, -1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2e4, 1.0]
    out = Calibrator(foundation="none")(IMAGE, Anchors(uv, z))
    assert out.anchors.reason.tolist() == [
        "outvoted", "not_finite", "not_finite", "not_positive", "not_positive", "out_of_image", "out_of_image",
        "out_of_image", "unjudged", "unjudged", "out_of_range", "not_finite",
    ]  # fmt: skip
    assert out.anchors.keep.tolist() == [r == "unjudged" for r in out.anchors.reason]
    assert (out.anchors.score[~out.anchors.keep] == WORST_SCORE).all()
    np.testing.assert_array_equal(out.anchors.outlier_probability, ~out.anchors.keep)


def test_readings_of_one_pixel_share_the_verdict_on_their_merged_reading(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    uv, z = made.anchors.uv_px, made.anchors.z_m * np.where(np.arange(len(made.anchors)) % 5 == 0, 0.5, 1.0)
    alone = Calibrator()(made.image, Anchors(uv, z), made.relative)
    four = np.stack([0.4 * z, z, z, z], axis=1).ravel()  # the first of each pixel is wrong
    out = Calibrator()(made.image, Anchors(np.repeat(uv, 4, axis=0), four), made.relative)
    np.testing.assert_array_equal(out.depth_m, alone.depth_m)
    np.testing.assert_array_equal(out.sigma_m, alone.sigma_m)
    for name, values in vars(alone.anchors).items():
        by_pixel = getattr(out.anchors, name).reshape(-1, 4)
        np.testing.assert_array_equal(by_pixel[:, 1:], np.stack([values] * 3, axis=1), err_msg=name)
    assert (out.anchors.reason[::4] == "outvoted").all()
    assert not out.anchors.keep[::4].any()
    assert (out.anchors.outlier_probability[::4] == 1.0).all()
    assert len(out.fit.used) == len(alone.fit.used), "the fit counts merged readings"


def test_an_anchor_on_a_hole_of_the_relative_field() -> None:
    values = np.linspace(1, 2, 600).reshape(20, 30)
    values[5, 5] = np.nan
    anchors = Anchors([[5, 5], [1, 1], [20, 15], [10, 8]], [1.0, 1.0, 2.0, 1.5])
    out = Calibrator(foundation="none")(IMAGE, anchors, relative=RelativeDepth(values, "depth"))
    assert out.anchors.reason[0] == "no_relative_value"
    assert out.anchors.keep[1:].any()


def test_all_unusable_is_an_error_that_counts_the_reasons() -> None:
    with pytest.raises(ContractError, match=r"none of the 3 is usable \(not_positive ×2, out_of_image ×1\)"):
        Calibrator(foundation="none")(IMAGE, Anchors([[1, 1], [2, 2], [99, 1]], [-1.0, 0.0, 1.0]))


@pytest.mark.parametrize(
    "image", [np.zeros((20, 30)), np.zeros((20, 30, 3)), np.zeros((20, 30, 4), np.uint8), np.zeros((0, 3, 3), np.uint8)]
)
def test_images_of_another_kind_are_refused(image: FloatArray) -> None:
    with pytest.raises(ContractError, match="image:"):
        Calibrator(foundation="none")(image, Anchors([[1, 1]], [1.0]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("image", "remedy"),
    [
        (IMAGE[..., 0], "np.dstack([image] * 3)"),
        (IMAGE[..., :1], "np.dstack([image] * 3)"),
        (np.dstack([IMAGE, IMAGE[..., :1]]), "image[..., :3]"),
        (IMAGE.transpose(2, 0, 1), "image.transpose(1, 2, 0)"),
        (IMAGE.astype(np.uint16), "(image // 257).astype(np.uint8)"),
        (IMAGE.astype(np.float32), "np.rint(image * 255).astype(np.uint8)"),
        (IMAGE > 3, "image.astype(np.uint8) * 255"),
        (Image.fromarray(IMAGE).convert("L"), "np.asarray(picture.convert('RGB'))"),
    ],
)
def test_a_refused_image_comes_with_its_remedy(image: Any, remedy: str) -> None:
    with pytest.raises(ContractError, match=f"arrived; .*{re.escape(remedy)}"):
        Calibrator(foundation="none")(image, Anchors([[1, 1]], [1.0]))
    check_image(eval(remedy, {"np": np, "image": image, "picture": image}))


def test_a_view_of_an_image_is_an_image(make_scene: Callable[..., MadeScene]) -> None:
    """Channels turned round, a mirror, a crop, a read-only buffer: no copy is asked of the caller."""
    made = make_scene()
    turned, frozen = made.image[:, :, ::-1], made.image.copy()
    frozen.setflags(write=False)
    for image in (turned, frozen, np.asfortranarray(made.image)):
        out = Calibrator()(image, made.anchors, relative=made.relative)
        same = Calibrator()(np.ascontiguousarray(image), made.anchors, relative=made.relative)
        np.testing.assert_array_equal(out.depth_m, same.depth_m)


@pytest.mark.parametrize("head", ["affine", "kriging"])
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("num_anchors", [0, 1, 2, 7, 400])
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (1, 300), (300, 1), (2, 2), (3, 5), (32, 32)])
def test_images_of_a_few_pixels(head: str, relative: bool, num_anchors: int, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    anchors = Anchors(
        rng.uniform(-0.5, 0.49, (num_anchors, 2)) + 0.5 * (np.array(shape[::-1]) - 1), rng.uniform(1, 5, num_anchors)
    )
    field = RelativeDepth(rng.random(shape), "inverse_depth") if relative else None
    out = Calibrator(foundation="none", head=head)(image, anchors, relative=field)
    for field_m in (out.depth_m, out.sigma_m):
        assert field_m.shape == shape
        assert np.isfinite(field_m).all()
        assert (field_m > 0).all()


def test_a_relative_field_of_another_size_is_refused() -> None:
    with pytest.raises(ContractError, match=r"\(20, 31\) arrived, the image's \(20, 30\)"):
        Calibrator()(IMAGE, Anchors([[1, 1]], [1.0]), relative=RelativeDepth(np.ones((20, 31)), "depth"))


def test_without_a_witness_the_status_says_so() -> None:
    anchors = Anchors([[1, 1], [9, 9], [20, 15]], [1.0, 2.0, 3.0])
    assert Calibrator(foundation="none", gate="theil_sen_mad")(IMAGE, anchors).status == "no_relative_depth"
    assert Calibrator(foundation="none", gate="none")(IMAGE, anchors).status == "ok"


def test_a_gate_that_rejects_all_is_overruled_by_name() -> None:
    class Nobody(LineGate):
        def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
            no = np.zeros(len(samples), np.bool_)
            return GateResult(no, np.ones(len(samples)), np.full(len(samples), "disliked"), no.astype(float))

    values = np.linspace(1, 2, 600).reshape(20, 30)
    anchors = Anchors([[1, 1], [9, 9], [20, 15]], [1.0, 2.0, 3.0])
    out = Calibrator(gate=Nobody())(IMAGE, anchors, relative=RelativeDepth(values, "depth"))
    assert out.status == "all_anchors_rejected"
    assert out.anchors.keep.all()
    assert not out.anchors.outlier_probability.any()


def with_multipath(made: MadeScene, scattered: bool = True) -> tuple[Anchors, BoolArray]:
    """A quarter of the readings too near, here and there or all on the left; and which."""
    order = (
        np.random.default_rng(9).permutation(len(made.anchors)) if scattered else np.argsort(made.anchors.uv_px[:, 0])
    )
    wrong = np.isin(np.arange(len(made.anchors)), order[:12])
    return Anchors(made.anchors.uv_px, np.where(wrong, 0.4, 1.0) * made.anchors.z_m), wrong


@pytest.mark.parametrize("gate", ["consensus", "consensus_learned", "theil_sen_mad"])
@pytest.mark.parametrize("scattered", [True, False])
def test_multipath_is_rejected_and_the_depth_survives(
    gate: str, scattered: bool, make_scene: Callable[..., MadeScene]
) -> None:
    made = make_scene()
    broken, wrong = with_multipath(made, scattered)
    plain = Calibrator("cfa_ols", space="inverse_depth")(made.image, broken, relative=made.relative)
    ours = Calibrator(gate=gate)(made.image, broken, relative=made.relative)
    error = [float(np.abs(out.depth_m / made.depth_m - 1).mean()) for out in (plain, ours)]
    assert error[0] > 0.15, "least squares fails on this scene first"
    assert error[1] < 0.03
    np.testing.assert_array_equal(ours.anchors.keep, ~wrong)
    around = {"nearer_than_neighbours", "contradicts_relative_depth"}
    assert set(ours.anchors.reason[wrong]) <= ({"nearer_than_fit"} if gate == "theil_sen_mad" else around)


@pytest.mark.parametrize("gate", registry.names("gate"))
def test_a_reading_is_kept_unless_it_is_likely_wrong(gate: str, make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    broken, _ = with_multipath(made)
    unusable = Anchors([*broken.uv_px, [1.0, 1.0]], [*broken.z_m, np.nan])
    verdicts = Calibrator(gate=gate, head="affine")(made.image, unusable, relative=made.relative).anchors
    np.testing.assert_array_equal(
        verdicts.keep, verdicts.outlier_probability < (0.2 if gate == "consensus_learned" else 0.5 + 1e-9)
    )
    assert ((verdicts.outlier_probability >= 0.0) & (verdicts.outlier_probability <= 1.0)).all()
    assert verdicts.outlier_probability[-1] == 1.0
    if not gate.startswith("consensus"):  # the others know no doubt
        assert set(verdicts.outlier_probability[:-1]) <= {0.0, 1.0}


def test_one_calibrator_serves_many_threads(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    calibrator = Calibrator()
    alone = calibrator(made.image, made.anchors, relative=made.relative)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: calibrator(made.image, made.anchors, relative=made.relative), range(8)))
    for out in results:
        np.testing.assert_array_equal(out.depth_m, alone.depth_m)


@pytest.mark.parametrize("stage", ["foundation", "gate", "fit", "head"])
def test_an_empty_name_is_a_mistake_not_the_default(stage: str) -> None:
    with pytest.raises(ContractError, match=f"{stage}: there is no ''"):
        Calibrator(**{stage: ""})


def test_stages_may_be_instances() -> None:
    assert Calibrator(gate=TheilSenMad(kappa=5)).gate == Calibrator(gate="theil_sen_mad:kappa=5").gate


def test_a_stated_deviation_weighs_the_reading() -> None:
    anchors = [[5.0, 10.0], [6.0, 10.0]]
    sure = Calibrator(foundation="none", gate="none")(IMAGE, Anchors(anchors, [1.0, 2.0], [0.01, 2.0]))
    unsure = Calibrator(foundation="none", gate="none")(IMAGE, Anchors(anchors, [1.0, 2.0], [1.0, 0.01]))
    assert sure.depth_m[10, 5] < unsure.depth_m[10, 5]


@pytest.mark.parametrize("head", ["affine", "kriging"])
@pytest.mark.parametrize("fit", ["ols", "huber", "ransac", "theil_sen"])
@pytest.mark.parametrize("gate", ["none", "theil_sen_mad", "siegel_mad", "ransac"])
def test_anchors_a_hair_apart_do_not_make_a_line(gate: str, fit: str, head: str) -> None:
    """Two readings 1e-170 pixels apart have different x, and a slope that no number can hold."""
    values = np.tile(np.arange(30.0), (20, 1))
    for gap in (5e-324, 1e-170, 1e-30, 1e-12):
        anchors = Anchors([[k * gap, 0.0] for k in range(4)], [1.0, 2.0, 3.0, 5.0])
        out = Calibrator(gate=gate, fit=fit, head=head)(IMAGE, anchors, relative=RelativeDepth(values, "depth"))
        assert np.isfinite(out.depth_m).all()
        assert np.isfinite(out.sigma_m).all()
        assert np.isfinite(out.fit.covariance).all()


@pytest.mark.parametrize("size", [1e-45, 1e-30, 1.0, 1e30, 3e38])
@pytest.mark.parametrize("space", ["depth", "inverse_depth", "log_depth"])
def test_relative_fields_of_any_size(size: float, space: str) -> None:
    values = (np.random.default_rng(0).random((20, 30)) - 0.5) * 2 * size
    anchors = Anchors([[1, 1], [9, 9], [20, 15], [25, 3]], [1.0, 2.0, 3.0, 2.0])
    for method in ("default", "cfa_ols"):
        out = Calibrator(method)(IMAGE, anchors, relative=RelativeDepth(values, space))
        assert np.isfinite(out.depth_m).all()
        assert (out.depth_m > 0).all()


def test_the_report_can_repeat_the_run() -> None:
    anchors = Anchors([[1, 1], [9, 9], [20, 15]], [1.0, 2.0, 3.0])
    relative = RelativeDepth(np.linspace(1, 2, 600).reshape(20, 30), "depth")
    out = Calibrator(gate="theil_sen_mad:kappa=3")(IMAGE, anchors, relative=relative)
    assert out.stages["foundation"] == "given"
    assert out.options["gate"] == {"kappa": 3}
    assert out.options["head"]["noise"] == 0.06


def test_a_flat_answer_is_named() -> None:
    anchors = Anchors([[1, 1], [9, 9], [20, 15]], [1.0, 2.0, 3.0])
    assert Calibrator("cfa_ols", foundation="none")(IMAGE, anchors).status == "no_relative_depth"


def test_without_a_reading_the_prior_is_what_is_documented() -> None:
    out = Calibrator(foundation="none")(IMAGE, Anchors([], []))
    np.testing.assert_allclose(out.depth_m, 3.0, rtol=1e-6)
    assert out.sigma_m.min() > 2.5


def test_one_anchor_is_as_unsure_far_away_as_at_the_anchor() -> None:
    relative = RelativeDepth(np.linspace(1, 20, 600).reshape(20, 30), "depth")
    out = Calibrator("cfa_ols")(IMAGE, Anchors([[0, 0]], [1.0]), relative=relative)
    share = out.sigma_m / out.depth_m
    assert share.min() > 0.29


def test_a_bad_deviation_is_named() -> None:
    anchors = Anchors([[1, 1], [9, 9], [20, 15]], [1.0, 2.0, 3.0], [0.1, -1.0, np.nan])
    out = Calibrator(foundation="none")(IMAGE, anchors)
    assert out.anchors.reason.tolist() == ["unjudged", "bad_sigma", "bad_sigma"]


def test_a_portrait_is_a_turned_landscape() -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (60, 90, 3), dtype=np.uint8)
    uv = rng.integers(0, 60, (12, 2)).astype(float)
    z = rng.uniform(1, 4, 12)
    wide = Calibrator(foundation="none")(image, Anchors(uv, z))
    tall = Calibrator(foundation="none")(image.swapaxes(0, 1).copy(), Anchors(uv[:, ::-1], z))
    np.testing.assert_allclose(tall.depth_m.T, wide.depth_m, rtol=1e-3)


def test_the_paper_s_line_in_depth_sees_depth_when_the_network_gives_log_depth() -> None:
    z_m = np.linspace(1.0, 9.0, 60 * 80).reshape(60, 80)
    uv_px = np.random.default_rng(0).integers(0, (80, 60), (40, 2))
    anchors = Anchors(uv_px, z_m[uv_px[:, 1], uv_px[:, 0]])
    relative = RelativeDepth(np.log(z_m) - 1.3, "log_depth")
    out = Calibrator("cfa_ols")(np.zeros((60, 80, 3), np.uint8), anchors, relative)
    assert out.space == "depth"
    np.testing.assert_allclose(out.depth_m, z_m, rtol=1e-4)


@dataclass(frozen=True)
class Soft(Gate):
    """Rejects the first two, and gives so many of the others a high weight."""

    num_heavy: int

    def judge(self, samples: Samples, *_: object) -> GateResult:
        K = len(samples)
        keep = np.arange(K) >= 2
        weight = np.where(np.arange(K) >= K - self.num_heavy, 0.9, 0.2)
        return GateResult(
            keep, np.zeros(K), np.where(keep, "consistent", "odd"), weight, outlier_probability=np.where(keep, 0.1, 0.9)
        )


@dataclass(frozen=True)
class Recorder(Head):
    """Keeps the scene it was given."""

    scenes: list[Scene]

    def __call__(self, scene: Scene) -> HeadResult:
        self.scenes.append(scene)
        return HeadResult(np.ones(scene.shape, np.float32), np.ones(scene.shape, np.float32))


def test_where_few_have_weight_the_fit_goes_by_the_verdicts(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    K = len(made.anchors)
    for num_heavy, used in ((0, K - 2), (2, K - 2), (3, 3), (K - 1, K - 1)):
        head = Recorder([])
        Calibrator(gate=Soft(num_heavy), head=head)(made.image, made.anchors, made.relative)
        (scene,) = head.scenes
        assert scene.fit.used.size == used
        assert scene.fit.status == "ok"
        assert len(scene.samples) == K
        assert len(scene.samples.inliers) == (num_heavy or K)


@pytest.mark.parametrize("fault", ["noise", "constant"])
def test_a_foundation_that_the_readings_contradict_changes_nothing(
    fault: str, make_scene: Callable[..., MadeScene]
) -> None:
    made = make_scene(60, shape=(120, 160))
    rng = np.random.default_rng(0)
    values = rng.normal(size=(120, 160)) if fault == "noise" else np.full((120, 160), 0.7)
    wrong = Calibrator()(made.image, made.anchors, RelativeDepth(values.astype(np.float32), "log_depth"))
    without = Calibrator(foundation="none")(made.image, made.anchors)
    assert wrong.status == {"noise": "foundation_disagrees", "constant": "constant_relative_depth"}[fault]
    np.testing.assert_array_equal(wrong.depth_m, without.depth_m)
    np.testing.assert_array_equal(wrong.sigma_m, without.sigma_m)
    np.testing.assert_array_equal(wrong.anchors.keep, without.anchors.keep)


def test_what_is_not_used_stays_unused_where_a_gate_rejects_all(make_scene: Callable[..., MadeScene]) -> None:
    @dataclass(frozen=True)
    class RejectsAll(Gate):
        def judge(self, samples: Samples, image: object = None, relative: FloatArray | None = None) -> GateResult:
            none = np.zeros(len(samples))
            return GateResult(none > 0, none, np.full(len(samples), "no"), none, use_relative=False)

    made = make_scene(20)
    out = Calibrator(gate=RejectsAll())(made.image, made.anchors, made.relative)
    without = Calibrator(foundation="none", gate="none")(made.image, made.anchors)
    assert out.status == "all_anchors_rejected"
    np.testing.assert_allclose(out.depth_m, without.depth_m, rtol=1e-5)


def with_cores(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("onnx_session", "parallel"):
        monkeypatch.setattr(f"mrac.runtime.{module}.num_cores", lambda: number)


@pytest.mark.parametrize("method", ["default", "fast"])
def test_one_core_gives_what_two_do(
    method: str, make_scene: Callable[..., MadeScene], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, results = make_scene(), []
    for cores in (1, 2):
        with_cores(cores, monkeypatch)
        results.append(Calibrator(method)(made.image, made.anchors))
    np.testing.assert_array_equal(results[0].depth_m, results[1].depth_m)
    np.testing.assert_array_equal(results[0].anchors.score, results[1].anchors.score)


@pytest.mark.parametrize(
    ("head", "foundation", "cores", "ready"),
    [
        ("kriging", "embedded", 2, True),
        ("kriging", "embedded:mirror=0", 2, True),
        ("kriging", "embedded", 1, False),
        ("kriging", "none", 2, False),
        ("affine", "embedded", 2, False),
    ],
)
def test_the_appearance_is_computed_beside_a_network_where_it_is_needed(
    head: str,
    foundation: str,
    cores: int,
    ready: bool,
    make_scene: Callable[..., MadeScene],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, seen = make_scene(), []

    def gate(samples: Samples, image: ImageAppearance) -> BoolArray:
        seen.append("cells" in vars(image))
        return np.ones(len(samples), np.bool_)

    with_cores(cores, monkeypatch)
    Calibrator(gate=gate, head=head, foundation=foundation)(made.image, made.anchors)
    assert seen == [ready]
