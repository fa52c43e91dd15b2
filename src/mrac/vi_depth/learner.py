"""Finds and loads a scale-map learner, published or our own, with its input statistics and ranges."""

import os
import re
import threading
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError, MissingExtra
from mrac.io.files import user_path
from mrac.runtime.cache.location import user_cache
from mrac.runtime.onnx_session import network_metadata, run_network
from mrac.runtime.weight_files import weights_path
from mrac.vi_depth.description import described
from mrac.vi_depth.predictors import Standardisation, predictor
from mrac.vi_depth.ranges import VOID, Ranges
from mrac.vi_depth.refinement import Learner

FOLDER_VARIABLE: Final = "MRAC_VI_DEPTH"  # folder of the published checkpoints
RETRAINED: Final = "sml_retrained"
_NEED_TORCH: Final = (".ckpt", ".safetensors")
_WHERE: Final = "head/sml"
_loading = threading.Lock()


@dataclass(frozen=True, eq=False)
class Trained:
    """A learner with the statistics and ranges that it was trained with.

    Attributes:
        learner: the network.
        standardisation: of its inputs.
        ranges: its own; a user may set others.
        path: of its file.
    """

    learner: Learner
    standardisation: Standardisation
    ranges: Ranges
    path: Path = Path()


def open_learner(weights: str, predictor_name: str, budget: int) -> Trained:
    """The learner that these three select; a file is loaded once while it does not change.

    Args:
        weights: a name of the package's own, or a file: .onnx, .ckpt (as published) or .safetensors. Empty stands for
            the published checkpoint of the predictor, or without one for `sml_retrained`.
        predictor_name: whose statistics standardise the inputs; empty takes the file's own, or those of the predictor
            in the name of a published checkpoint.
        budget: of readings, 150, 500 or 1500; used only with a predictor.

    Raises:
        ContractError: the file is missing (the message says which one to get), damaged, or not of a learner.
        MissingExtra: a .ckpt or .safetensors needs torch, which is not installed.
    """
    path = _file(weights, predictor_name, budget)
    published = _published(path, predictor_name, budget)
    if not path.is_file():
        raise ContractError(f"{_WHERE}: no file {path}")
    learner: Learner
    if path.suffix not in _NEED_TORCH:
        about, learner = network_metadata(path, _WHERE), partial(_run_onnx, path)
    else:
        with _loading:  # so that threads that need a network for the first time do not each load it
            about, learner = _load_with_torch(str(path), path.stat().st_mtime_ns)
    if published is not None:
        return Trained(learner, published, VOID, path)
    standardisation, ranges = described(about, f"{_WHERE}: {path}")
    return Trained(learner, standardisation, ranges, path)


def _file(weights: str, predictor_name: str, budget: int) -> Path:
    if weights or not predictor_name:
        named = weights or RETRAINED
        return user_path(named) if named.endswith(_NEED_TORCH) else weights_path(named, _WHERE)
    path = _published_folder() / predictor(predictor_name).learner_file(budget)
    if not path.is_file():
        raise ContractError(
            f"{_WHERE}: no file {path}. Get {path.name} from release v1 of github.com/isl-org/VI-Depth and put it "
            f"there, or into a folder of your own: {FOLDER_VARIABLE}=FOLDER, or --head sml:weights=FILE"
        )
    return path


def _published_folder() -> Path:
    named = os.environ.get(FOLDER_VARIABLE, "").strip()
    try:
        return user_path(named) if named else user_cache() / "mrac" / "vi_depth"
    except RuntimeError:
        raise ContractError(f"{_WHERE}: there is no home folder; {FOLDER_VARIABLE}=FOLDER is needed") from None


def _published(path: Path, predictor_name: str, budget: int) -> Standardisation | None:
    """The statistics of a published learner; None if they have to be in the file."""
    found = re.match(r"sml_model\.dpredictor\.(\w+)\.nsamples\.(\d+)\.", path.name)
    if found and predictor_name and (found[1], int(found[2])) != (predictor_name, budget):
        raise ContractError(
            f"{_WHERE}: {path} is for {found[1]} and {found[2]} readings, but predictor {predictor_name} and budget "
            f"{budget} were asked for; leave both out, the name says it all"
        )
    if predictor_name:
        return predictor(predictor_name).standardisation(budget)
    if found:
        return predictor(found[1]).standardisation(int(found[2]))
    if path.suffix == ".ckpt":
        raise ContractError(
            f"{_WHERE}: {path} does not tell by its name which predictor and budget it is for; say it: "
            "sml:weights=FILE,predictor=NAME,budget=150"
        )
    return None


def _run_onnx(path: Path, x: FloatArray) -> FloatArray:
    scale = np.asarray(run_network(path, x, _WHERE))
    if scale.shape != (1, 1, *x.shape[2:]):
        raise ContractError(
            f"{_WHERE}: {path} gave an output of shape {scale.shape} where {(1, 1, *x.shape[2:])} is needed; it is no "
            "scale-map learner"
        )
    return scale


@lru_cache(maxsize=2)
def _load_with_torch(path: str, changed_ns: int) -> tuple[dict[str, str], Learner]:  # keyed by the last change
    try:
        from mrac.vi_depth.checkpoint import load_learner, read_about  # noqa: PLC0415  (needs torch)
        from mrac.vi_depth.network import predict_scale  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f"{_WHERE}: {path}", "torch") from None
    return read_about(Path(path)), partial(predict_scale, load_learner(Path(path)))
