"""Scale-map learners in the layouts that are published, made here: the weights themselves cannot be had everywhere."""

from typing import Any

import torch
from torch import Tensor

from mrac.vi_depth.network import ScaleMapLearner


def lightning(state: dict[str, Any]) -> dict[str, Any]:
    """A Lightning 1.9 checkpoint around the network's entries, with the training's own beside them."""
    named = {f"model.{name}": value for name, value in state.items()}
    return {
        "epoch": 3,
        "global_step": 1200,
        "pytorch-lightning_version": "1.9.0",
        "state_dict": {**named, "loss.weight": torch.ones(2)},
        "callbacks": {"ModelCheckpoint{'monitor': 'val'}": {"best_model_score": torch.tensor(0.1)}},
        "optimizer_states": [{"state": {}, "param_groups": [{"lr": 1e-3, "params": [0, 1]}]}],
        "lr_schedulers": [],
        "hyper_parameters": {"min_pred": 0.1},
    }


def random_state(seed: int = 0) -> dict[str, Tensor]:
    """All 489 entries, with random values, the norms' statistics too."""
    torch.manual_seed(seed)
    state = ScaleMapLearner().state_dict()
    for name, value in state.items():
        if name.endswith("running_var"):
            torch.nn.init.uniform_(value, 0.5, 1.5)
        elif name.endswith("running_mean"):
            torch.nn.init.normal_(value, std=0.1)
    return state


def hollow_state() -> dict[str, Any]:
    """All names and shapes, and one number, 0: torch stores it once, so that the file is small.

    Its scale is 1 everywhere: a learner that trusts the alignment.
    """
    with torch.device("meta"):
        state = ScaleMapLearner().state_dict()
    return {name: torch.zeros((), dtype=value.dtype).expand(value.shape) for name, value in state.items()}
