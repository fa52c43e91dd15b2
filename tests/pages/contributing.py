"""CONTRIBUTING.md: the gate that it shows works in a call; an entry of the methods' table is one of a dictionary."""

import numpy as np

from mrac import Anchors, Calibrator, Method, RelativeDepth
from tests.pages import Block
from tests.pages.run import Step


def names() -> dict[str, object]:
    return {"Method": Method}


def whole(block: Block) -> str:
    return f"entry = {{\n{block.text}}}" if block.text.startswith('"theil') else block.text


class Check:
    def __call__(self, step: Step) -> None:
        if "entry" in step.names:
            (method,) = step.names["entry"].values()
            assert isinstance(method, Method)
            return
        uv_px = np.stack([np.arange(20) % 5, np.arange(20) // 5], axis=1)
        relative = RelativeDepth(1.0 + np.arange(20.0).reshape(4, 5), "depth")
        z_m = 2.0 * relative.values.ravel()
        z_m[3] *= 3
        calibrate = Calibrator(gate=step.names["IMPLEMENTATION"](threshold=0.1), fit="ols", head="affine")
        out = calibrate(np.zeros((4, 5, 3), np.uint8), Anchors(uv_px, z_m), relative=relative)
        assert np.flatnonzero(~out.anchors.keep).tolist() == [3]

    def finish(self) -> None:
        pass
