"""Metadata of a scale-map learner's file: the statistics of its inputs and its ranges, as text beside the weights."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from mrac.errors import ContractError
from mrac.vi_depth.predictors import Standardisation
from mrac.vi_depth.ranges import Ranges

KIND: Final = "sml"


def describe(standardisation: Standardisation, ranges: Ranges) -> dict[str, str]:
    """The entries of a file's metadata; `described` parses them."""
    return {
        "mrac.kind": KIND,
        "mrac.standardisation": json.dumps(asdict(standardisation)),
        "mrac.ranges": json.dumps(asdict(ranges)),
    }


def described(about: Mapping[str, str], where: str) -> tuple[Standardisation, Ranges]:
    """The statistics and ranges in a file's metadata.

    Args:
        about: the metadata, which may hold other entries too.
        where: the file, for errors.

    Raises:
        ContractError: it is not the metadata of a learner, or malformed.
    """
    if about.get("mrac.kind") != KIND:
        raise ContractError(
            f"{where} does not say that it is a scale-map learner (entry mrac.kind); one of `export_learner` is "
            "needed, or for a published one its predictor: sml:weights=FILE,predictor=NAME,budget=150"
        )
    try:
        standardisation = Standardisation(**json.loads(about["mrac.standardisation"]))
        ranges = Ranges(**json.loads(about["mrac.ranges"]))
        values = tuple(float(value) for value in asdict(standardisation).values())
    except (KeyError, TypeError, ValueError) as error:  # a ContractError of `Ranges` is a ValueError
        raise ContractError(f"{where}: its entries about itself are malformed ({error!r}); export it anew") from None
    if not all(map(math.isfinite, values)) or min(values[1], values[3]) <= 0:
        raise ContractError(f"{where}: its statistics {values} need finite means and deviations > 0; export it anew")
    return standardisation, ranges
