"""VI-Depth's learner by torch; the alignment and the scale map before it are the head's own, on the CPU."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.head.base import HeadResult, Scene
from mrac.head.sml import LearnerInput, Sml
from mrac.lab.bench.device.equal_batches import run_in_equal_batches
from mrac.lab.export.scale_map_from_onnx import learner_from_onnx
from mrac.vi_depth.checkpoint import load_learner
from mrac.vi_depth.learner import Trained
from mrac.vi_depth.network import ScaleMapLearner
from mrac.vi_depth.resize import learner_shape


class SmlOnDevice:
    """See `BatchedHead`.

    Args:
        head: with a learner, in whatever file.
        device: torch's name of it.
    """

    def __init__(self, head: Sml, device: str) -> None:
        self._head, self._device = head, torch.device(device)

    def __call__(self, scenes: Sequence[Scene]) -> list[HeadResult]:
        """See `BatchedHead`.

        Raises:
            ContractError: as the head does.
            MissingExtra: the learner's file is an .onnx, and `onnx` is not installed.
        """
        trained = self._head.trained()
        assert trained is not None  # no such head is given here
        inputs = [self._head.learner_input(scene, trained) for scene in scenes]
        depths_m = iter(self._refined(trained, [one for one in inputs if isinstance(one, LearnerInput)]))
        return [one.result(next(depths_m)) if isinstance(one, LearnerInput) else one for one in inputs]

    @torch.inference_mode()
    def _refined(self, trained: Trained, inputs: Sequence[LearnerInput]) -> FloatArray:
        """(N, H, W) float32 metres: `vi_depth.refinement.refine` for many."""
        if not inputs:
            return np.empty((0, 1, 1), np.float32)
        maps = np.stack([np.stack([one.aligned_per_m, one.unit_scale]) for one in inputs])
        large = torch.from_numpy(maps).to(self._device)
        frame = (maps.shape[2], maps.shape[3])
        small = _resized(large, learner_shape(frame))
        s, limits = trained.standardisation, inputs[0].ranges.inv_limits_per_m
        mean, std = (
            torch.tensor(pair, device=self._device).reshape(2, 1, 1)
            for pair in ((s.inv_z_mean_per_m, s.scale_mean), (s.inv_z_std_per_m, s.scale_std))
        )
        scale = run_in_equal_batches(_load(trained.path, self._device), [(small - mean) / std])
        if not bool(torch.isfinite(scale).all()):
            raise ContractError("vi_depth: the network gives values that are not finite; other weights are needed")
        inv_z_per_m = _resized((small[:, :1] * scale).clamp(*limits), frame)[:, 0]
        depth_m: FloatArray = inv_z_per_m.clamp(*limits).reciprocal().cpu().numpy()
        return depth_m


def _resized(maps: Tensor, shape: tuple[int, int]) -> Tensor:
    """`vi_depth.resize.resize_cubic` for (N, C, H, W) maps."""
    return functional.interpolate(maps, shape, mode="bicubic", align_corners=False)


def _load(path: Path, device: torch.device) -> ScaleMapLearner:
    return _loaded(str(path), path.stat().st_mtime_ns, device)


@lru_cache(maxsize=2)
def _loaded(path: str, changed_ns: int, device: torch.device) -> ScaleMapLearner:
    read = learner_from_onnx if path.endswith(".onnx") else load_learner
    return read(Path(path)).to(device)
