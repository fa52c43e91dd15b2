"""What the abstract says of the gate as a wrapper, measured by running it: parameters, weights, calls of the head."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mrac import registry
from mrac.anchors import Anchors
from mrac.conventions import ImageArray
from mrac.head.base import Head, HeadResult, Scene
from mrac.lab.bench.report.results import Results
from mrac.lab.studies.claim import Claim, Outcome
from mrac.pipeline import Calibrator
from mrac.types import RelativeDepth

WRAPPED: Final = {"mrac": "vanilla", "mrac_b_prime": "b_prime"}
"""The paper's method, and the one whose head it wraps."""

_SHAPE: Final = (48, 64)
_NUM_ANCHORS, _NUM_WRONG = 50, 12


@dataclass(frozen=True)
class _Watched(Head):
    """Another head, and the scenes that it was called with."""

    head: Head
    scenes: list[Scene] = field(default_factory=list)

    def __call__(self, scene: Scene) -> HeadResult:
        self.scenes.append(scene)
        return self.head(scene)


def no_parameters(_: Results) -> Outcome:
    """Weights are the same where the head is, its options included; a stage with learned numbers names their file."""
    here, parts = [], []
    for ours, plain in WRAPPED.items():
        gated, bare = (Calibrator(name, foundation="none") for name in (ours, plain))
        same = registry.stage_options(gated.head) == registry.stage_options(bare.head) and gated.head == bare.head
        options = registry.stage_options(gated.gate)
        by_hand = [name for name, value in options.items() if isinstance(value, int | float)]
        learned = [name for name in options if name not in by_hand]
        weights = f"{'the' if same else 'NOT the'} weights of `{plain}`"
        what = f"learned: {', '.join(learned)}" if learned else "nothing learned"
        here.append(f"`{ours}` has {weights}; its gate: {what}, set by hand: {', '.join(by_hand) or 'nothing'}")
        parts += [same, not learned]
    return Outcome("; ".join(here), tuple(parts))


def one_call(_: Results) -> Outcome:
    image, relative, anchors = _scene()
    here, parts = [], []
    for name in WRAPPED:
        watched = _Watched(Calibrator(name, foundation="none").head)
        result = Calibrator(name, foundation="none", head=watched)(image, anchors, relative)
        kept = int(np.count_nonzero(result.anchors.keep))
        seen = [len(scene.samples.z_m) for scene in watched.scenes]
        here.append(f"`{name}`: {len(seen)} call, {' and '.join(map(str, seen))} of {_NUM_ANCHORS} anchors in it")
        parts += [len(seen) == 1, all(num == kept < _NUM_ANCHORS for num in seen)]
    return Outcome(f"counted on a made scene with {_NUM_WRONG} wrong anchors: {'; '.join(here)}", tuple(parts))


def _scene() -> tuple[ImageArray, RelativeDepth, Anchors]:
    """A slope from 1 to 5 m, and readings of it; a quarter at two fifths of their depth."""
    H, W = _SHAPE
    depth_m = np.linspace(1.0, 5.0, H * W, dtype=np.float32).reshape(H, W)
    image = np.repeat((40 * depth_m).astype(np.uint8)[..., None], 3, axis=2)
    at = np.linspace(W, H * W - W, _NUM_ANCHORS).astype(int)
    v, u = np.divmod(at, W)
    z_m = depth_m[v, u].astype(np.float64)
    z_m[2 :: _NUM_ANCHORS // _NUM_WRONG] *= 0.4
    return image, RelativeDepth(depth_m / 5.0, "depth"), Anchors(np.stack([u, v], axis=1).astype(np.float64), z_m)


CLAIMS: Final = (
    Claim(
        name="no_parameters",
        place="Abstract",
        says="MRAC adds no learned parameters, at zero retraining.",
        holds_when="for both heads: the weights are those of the head alone, and the gate's options are numbers set by "
        "hand",
        protocol="none: read from the methods",
        test=no_parameters,
    ),
    Claim(
        name="one_call",
        place="Abstract",
        says="A single call to the calibration head.",
        holds_when="for both heads, on a scene made for it: one call, on the kept anchors alone",
        protocol="none: run when this page is written",
        test=one_call,
    ),
)
