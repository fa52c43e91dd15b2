"""The learned heads' files as onnx reads them: parameters, and metadata that may be missing."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from mrac.head._rendering import NUM_PIXELS
from mrac.head._weights import HeadFile
from mrac.runtime.onnx_session import network_metadata
from mrac.runtime.weight_files import weights_path


@pytest.mark.parametrize("name", ["vanilla", "b_prime", "raw_depth"])
def test_what_ships_has_the_papers_number_of_parameters(name: str) -> None:
    graph = onnx.load(str(weights_path(name, "head/x"))).graph
    num = sum(int(np.prod(constant.dims)) for constant in graph.initializer)
    assert 465_000 <= num <= 477_000  # beside the weights, the scales of those in 16 bits and what the norms need


def test_a_file_without_a_number_of_pixels_has_the_default(variant: Callable[..., Path]) -> None:
    path = variant("scale_free", "inverse_depth")
    assert "mrac.num_pixels" not in network_metadata(path, "x")
    assert HeadFile.read(str(path), "residual", "x") == HeadFile(path, "scale_free", "inverse_depth", NUM_PIXELS)
