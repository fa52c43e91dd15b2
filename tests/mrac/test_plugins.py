"""Stages that come from outside: plain functions, subclasses of the public bases, packages with entry points."""

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import RANSACRegressor

from mrac import (
    Anchors,
    Calibrator,
    ContractError,
    Fit,
    FitResult,
    Foundation,
    Gate,
    GateResult,
    Head,
    HeadResult,
    RelativeDepth,
    Samples,
    Scene,
    TheilSenGate,
    registry,
)
from mrac.conventions import FloatArray, ImageArray
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.runtime.cache import PredictionCache
from tests.conftest import MadeScene

IMAGE = np.zeros((20, 30, 3), np.uint8)
ANCHORS = Anchors([[1, 1], [9, 9], [20, 15], [25, 3]], [1.0, 2.0, 3.0, 2.5])
RELATIVE = RelativeDepth(np.linspace(1, 2, 600).reshape(20, 30), "depth")


def calibrated(**stages: Any) -> Any:
    return Calibrator("cfa_ols", **{"foundation": "none", **stages})(IMAGE, ANCHORS, RELATIVE)


def not_too_far(samples: Samples) -> Any:
    return samples.z_m < 2.8


def test_a_function_is_a_gate_by_its_mask() -> None:
    out = calibrated(gate=not_too_far)
    assert out.anchors.keep.tolist() == [True, True, False, True]
    assert out.anchors.reason.tolist() == ["consistent", "consistent", "rejected", "consistent"]
    assert out.stages["gate"] == "not_too_far"
    assert out.options["gate"] == {"function": f"{__name__}.not_too_far"}
    assert out.fit.used.size == 3
    assert calibrated(gate=Gate.from_function(not_too_far)).anchors.keep.tolist() == out.anchors.keep.tolist()


def test_a_function_is_a_gate_by_its_weights_and_may_ask_for_the_image_and_the_field() -> None:
    seen: dict[str, Any] = {}

    def soft(samples: Samples, relative: FloatArray, image: object, kappa: float = 3.0) -> list[float]:
        seen.update(relative=relative, image=image, kappa=kappa)
        return [0.9, 0.6, 0.5, 0.1]

    out = calibrated(gate=soft)
    assert out.anchors.weight.tolist() == [0.9, 0.5, 0.1, 0.6], "samples are in the order of their pixels"
    assert out.anchors.keep.tolist() == [True, True, False, True]
    assert seen["relative"].shape == (20, 30)
    assert seen["image"] is not None
    assert seen["kappa"] == 3.0


def test_a_function_that_keeps_nothing_is_overruled_and_one_without_samples_is_not_called() -> None:
    assert calibrated(gate=lambda samples: np.zeros(len(samples))).status == "all_anchors_rejected"
    assert Calibrator("cfa_ols", foundation="none", gate=lambda _: 1 / 0)(IMAGE, Anchors([], [])).status == "no_anchors"
    named = [calibrated(gate=gate).stages["gate"] for gate in (lambda s: s.z_m > 0, functools.partial(not_too_far))]
    assert named == ["lambda", "not_too_far"]


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (np.ones(3, bool), r"array of bool of shape \(3,\) arrived, \(4,\) is needed, one for each sample"),
        (np.ones((4, 1)), r"float64 of shape \(4, 1\) arrived"),
        (np.array([0, 1, 2, 3]), r"int64 of shape \(4,\) arrived"),
        ([[1.0], [1.0, 2.0]], r"arrived, \(4,\) is needed"),
        (None, "None arrived"),
        ("yes", "arrived"),
        ([1.0, np.nan, 1.0, 1.0], "weights from nan to nan arrived, numbers from 0 to 1 are needed"),
        ([1.0, 2.0, 1.0, 1.0], "weights from 1 to 2 arrived"),
        ([1.0, -0.5, 1.0, 1.0], "weights from -0.5 to 1 arrived"),
    ],
)
def test_a_function_s_wrong_verdict_is_named(result: Any, says: str) -> None:
    def odd_gate(samples: Samples) -> Any:
        return result

    with pytest.raises(ContractError, match=f"^gate odd_gate: .*{says}"):
        calibrated(gate=odd_gate)


@dataclass(frozen=True)
class Told(Gate):
    """Says what it is told to."""

    changes: dict[str, Any]
    whole: Any = None

    def judge(self, samples: Samples, *_: object) -> Any:
        K = len(samples)
        right = {"keep": np.ones(K, bool), "score": np.zeros(K), "reason": np.full(K, "told"), "weight": np.ones(K)}
        return self.whole or GateResult(**{**right, **self.changes})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"keep": np.ones(5, bool)},
            r"GateResult.keep: an array of bool of shape \(5,\) arrived, bool of shape \(4,\)",
        ),
        ({"keep": np.ones(4)}, "keep: an array of float64"),
        ({"keep": [True] * 4}, "keep: list arrived"),
        ({"score": np.array([0, 0, 0, np.inf])}, "score: numbers from 0 to inf arrived, finite numbers"),
        ({"reason": np.zeros(4)}, "reason: an array of float64 .* text of shape"),
        ({"weight": np.ones(3)}, r"weight: .*\(3,\)"),
        ({"weight": np.full(4, np.nan)}, "weight: numbers from nan"),
        ({"outlier_probability": np.full(4, 1.5)}, "outlier_probability: numbers from 1.5"),
        ({"whole": (1, 2)}, "tuple arrived, a GateResult is needed"),
    ],
)
def test_a_gate_s_wrong_result_is_named(changes: dict[str, Any], says: str) -> None:
    gate = Told({}, **changes) if "whole" in changes else Told(changes)
    with pytest.raises(ContractError, match=f"^gate Told: .*{says}"):
        calibrated(gate=gate)


def test_a_negative_weight_is_none() -> None:
    """`GateResult` takes what is next to nothing for 0, whoever made it."""
    assert GateResult(np.ones(2, bool), np.zeros(2), np.full(2, "a"), np.array([1e-9, 1.0])).weight.tolist() == [0, 1]


def test_a_fit_s_wrong_result_is_named() -> None:
    @dataclass(frozen=True)
    class OddFit(Fit):
        result: Any

        def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> Any:
            return self.result

    used = np.ones(4, bool)
    for result, says in (
        ((1.0, 2.0), "tuple arrived, a FitResult is needed"),
        (FitResult(1.0, 0.0, np.eye(3), 0.1, used), r"covariance: .*\(3, 3\) arrived, float of shape \(2, 2\)"),
        (FitResult(1.0, 0.0, np.eye(2), 0.1, used[:2]), r"used: .*\(2,\) arrived, bool of shape \(4,\)"),
        (FitResult(float("nan"), 0.0, np.eye(2), 0.1, used), "scale: nan arrived, a finite number"),
    ):
        with pytest.raises(ContractError, match=f"^fit OddFit: .*{says}"):
            calibrated(fit=OddFit(result))
    with pytest.raises(ContractError, match=r"^fit lambda: tuple arrived, a FitResult is needed"):
        calibrated(fit=lambda samples: (1.0, 0.0))


def test_a_head_s_wrong_result_is_named_and_its_precision_is_single() -> None:
    @dataclass(frozen=True)
    class OddHead(Head):
        depth: Any
        sigma: Any = None

        def __call__(self, scene: Scene) -> Any:
            return HeadResult(self.depth, self.depth if self.sigma is None else self.sigma)

    good = np.ones((20, 30))
    out = calibrated(head=OddHead(good))
    assert out.depth_m.dtype == out.sigma_m.dtype == np.float32
    assert out.stages["head"] == "OddHead"
    for depth, sigma, says in (
        (good[:, :5], None, r"depth_m: .*\(20, 5\) arrived, float of shape \(20, 30\)"),
        (good.astype(int), None, "depth_m: an array of int64"),
        (good, good * 0.0, "sigma_m: numbers from 0 to 0 arrived, finite numbers > 0"),
        (good, np.where(np.eye(20, 30), np.nan, 1.0), "sigma_m: numbers from nan"),
    ):
        with pytest.raises(ContractError, match=f"^head OddHead: HeadResult.{says}"):
            calibrated(head=OddHead(depth, sigma))
    with pytest.raises(ContractError, match=r"^head lambda: an array of float64 .* a HeadResult is needed"):
        Calibrator("cfa_ols", head=lambda scene: good)(IMAGE, ANCHORS, RELATIVE)  # type: ignore[arg-type]


def ramp(image: ImageArray) -> Any:
    return np.linspace(1, 2, image.shape[0] * image.shape[1]).reshape(image.shape[:2])


@pytest.mark.parametrize(
    "foundation",
    [
        lambda image: RelativeDepth(ramp(image), "depth"),
        lambda image: (ramp(image), "depth"),
        Foundation.from_function(ramp, space="depth"),
    ],
)
def test_a_function_is_a_foundation(foundation: Any) -> None:
    out = Calibrator("cfa_ols", foundation=foundation)(IMAGE, ANCHORS)
    given = Calibrator("cfa_ols", foundation="none")(IMAGE, ANCHORS, RELATIVE)
    np.testing.assert_array_equal(out.depth_m, given.depth_m)


def test_bare_numbers_are_inverse_depth_unless_declared_and_the_report_says_so(tmp_path: Path) -> None:
    out = Calibrator(foundation=ramp, cache=PredictionCache(tmp_path))(IMAGE, ANCHORS)
    assert out.space == "inverse_depth"
    assert out.stages["foundation"] == "ramp"
    assert out.options["foundation"] == {"function": f"{__name__}.ramp", "space": "inverse_depth"}
    assert out.cache == "off", "nothing says that a function gives the same again"
    assert Calibrator(foundation=lambda _: None)(IMAGE, ANCHORS).space == "log_depth"


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (np.ones((20, 31)), r"relative depth of shape \(20, 31\) arrived, the image's \(20, 30\) is needed"),
        (np.ones(600), r"\(H, W\) numbers are needed, float64 of shape \(600,\) arrived"),
        ((np.ones((20, 30)), "metres"), "'metres' is not a space"),
        ("text", r"\(H, W\) numbers"),
        ([[1.0], [1.0, 2.0]], r"\(H, W\) numbers"),
    ],
)
def test_a_function_s_wrong_field_is_named(result: Any, says: str) -> None:
    def odd_net(image: ImageArray) -> Any:
        return result

    with pytest.raises(ContractError, match=f"^foundation odd_net: .*{says}"):
        Calibrator(foundation=odd_net)(IMAGE, ANCHORS)


def test_a_foundation_s_wrong_result_is_named_and_not_stored(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class BareNet(Foundation):
        @property
        def identity(self) -> str:
            return "bare"

        def __call__(self, image: ImageArray) -> Any:
            return np.ones(image.shape[:2])

    store = PredictionCache(tmp_path)
    with pytest.raises(ContractError, match=r"^foundation BareNet: an array .* return RelativeDepth\(values, "):
        Calibrator(foundation=BareNet(), cache=store)(IMAGE, ANCHORS)
    assert store.info().num_files == 0
    with pytest.raises(ContractError, match="'metres' is not a space"):
        Foundation.from_function(ramp, space="metres")


def test_an_estimator_is_a_gate(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    z_m = np.where(np.arange(len(made.anchors)) % 5 == 0, 0.4, 1.0) * made.anchors.z_m
    anchors, options = Anchors(made.anchors.uv_px, z_m), {"fit": "ols", "head": "affine"}
    named = Calibrator(gate="theil_sen_mad:kappa=3", **options)(made.image, anchors, made.relative)
    ours = Calibrator(gate=TheilSenGate(kappa=3), **options)(made.image, anchors, made.relative)
    np.testing.assert_array_equal(ours.depth_m, named.depth_m)
    np.testing.assert_array_equal(ours.anchors.score, named.anchors.score)
    assert ours.stages["gate"] == "TheilSenGate"
    assert ours.options["gate"] == {"estimator": "TheilSenGate(kappa=3)"}
    theirs = Calibrator(gate=RANSACRegressor(residual_threshold=0.02, random_state=0), **options)
    np.testing.assert_array_equal(theirs(made.image, anchors, made.relative).anchors.keep, named.anchors.keep)

    class StandardLine:
        def fit(self, X: FloatArray, y: FloatArray) -> "StandardLine":
            return self

    without = Calibrator(gate=StandardLine(), **options)
    with pytest.raises(ContractError, match="gate StandardLine: after fit its inlier_mask_ is None"):
        without(made.image, anchors, made.relative)


@pytest.mark.parametrize(
    ("stages", "says"),
    [
        (
            {"gate": 5},
            r'gate: int \(5\) arrived; a name from `mrac list gates` is needed \(gate="theil_sen_mad:kappa=3"',
        ),
        ({"foundation": 3.2}, r'float \(3.2\) arrived; a name from `mrac list foundations` is .*"embedded".* function'),
        ({"fit": [1]}, "fit: list .* mrac.Fit"),
        ({"head": np.ones(3)}, r"head: an array of float64 of shape \(3,\) arrived"),
        ({"gate": TheilSenMad}, r"the class TheilSenMad arrived, an instance is needed: gate=TheilSenMad\(...\)"),
    ],
)
def test_what_is_no_stage_is_refused_with_the_right_call(stages: dict[str, Any], says: str) -> None:
    with pytest.raises(ContractError, match=says):
        Calibrator(**stages)


def test_what_is_no_argument_is_refused_with_the_right_call() -> None:
    calibrator: Any = Calibrator(foundation="none")
    uv, z = ANCHORS.uv_px, ANCHORS.z_m
    for arguments, says in (
        ((IMAGE, (uv, z)), r"an Anchors is needed, tuple arrived; calibrator\(image, Anchors\(\*anchors\)\)"),
        ((IMAGE, uv), r"array of float64 .* Anchors\(uv_px, z_m\)"),
        ((IMAGE, "a.csv"), r"read_anchors\(path\)"),
        ((IMAGE, ANCHORS, RELATIVE.values), r'RelativeDepth\(values, "inverse_depth"\)'),
        (("a.png", ANCHORS), r"str arrived; read_image\(path\)"),
    ):
        with pytest.raises(ContractError, match=says):
            calibrator(*arguments)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution of another author's with a gate, found as pip would have installed it."""
    info = tmp_path / "soft_votes-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: soft-votes\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[mrac.gate]\nsoft_vote = soft_votes:SoftVote\n")
    package = tmp_path / "soft_votes"
    package.mkdir()
    (package / "__init__.py").write_text("from soft_votes.inner import SoftVote\n")
    (package / "inner.py").write_text(
        "from dataclasses import dataclass\nfrom mrac import Gate\n\n\n@dataclass(frozen=True)\nclass SoftVote(Gate):\n"
        "    share: float = 0.5\n\n    def judge(self, samples, image=None, relative=None):\n"
        "        return Gate.from_function(lambda s: s.z_m > self.share)(samples)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("soft_votes", "soft_votes.inner"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("installed")
def test_a_plug_in_goes_by_the_name_of_its_entry_point() -> None:
    assert "soft_vote" in registry.names("gate")
    assert registry.summary("gate", "soft_vote") == "Plug-in of soft-votes 1.2: soft_votes:SoftVote"
    calibrator = Calibrator("cfa_ols", foundation="none", gate="soft_vote:share=1.5")
    out = calibrator(IMAGE, ANCHORS, RELATIVE)
    assert out.stages["gate"] == "soft_vote"
    assert out.options["gate"] == {"share": 1.5}
    assert out.anchors.keep.tolist() == [False, True, True, True]
    assert "gate='soft_vote:share=1.5'" in repr(calibrator)
    assert Calibrator.from_config(calibrator.config()).gate == calibrator.gate
    assert registry.stage_name(type(calibrator.gate)()) == "soft_vote", "however it was made"
