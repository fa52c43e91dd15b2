"""An exported pipeline run in onnxruntime beside the library, on a photograph with measured readings."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from PIL import Image

from mrac.anchors import Anchors
from mrac.conventions import FloatArray, ImageArray
from mrac.demo import motorcycle
from mrac.errors import ContractError
from mrac.foundation.embedded import Embedded
from mrac.lab.export.pipeline.status import STATUSES
from mrac.lab.export.pipeline.whole import Sizes
from mrac.pipeline import Calibrator

# Both compute in single precision where they are large, and round differently: 1e-6 was measured. A stage that one of
# them lacks shows as a thousand times more.
TOLERANCE = 1e-4
_NUM_READINGS = 50


class Scene(NamedTuple):
    """What a pipeline takes.

    Attributes:
        image: (H, W, 3) uint8.
        anchors: (N, 3) float32, padded with zeros.
        num_readings: among them.
    """

    image: ImageArray
    anchors: NDArray[np.float32]
    num_readings: int

    @property
    def readings(self) -> Anchors:
        """As the library takes them."""
        return Anchors(self.anchors[: self.num_readings, :2], self.anchors[: self.num_readings, 2])


def photograph(sizes: Sizes) -> Scene:
    """The demo's photograph at the size of the export, with 50 readings, a quarter of them wrong.

    Raises:
        MissingExtra: scikit-image, which carries it, is not installed.
    """
    (H, W), num = sizes
    scene = motorcycle(min(_NUM_READINGS, num))
    h, w = scene.image.shape[:2]
    image = np.asarray(Image.fromarray(scene.image).resize((W, H), Image.Resampling.BICUBIC))
    # No two in one pixel, which the library would merge and the graph does not.
    pixels = np.floor((scene.anchors.uv_px + 0.5) * (W / w, H / h)).astype(np.int64)
    _, chosen = np.unique(pixels, axis=0, return_index=True)
    anchors = np.zeros((num, 3), np.float32)
    anchors[: chosen.size] = np.column_stack([pixels, scene.anchors.z_m])[np.sort(chosen)]
    return Scene(image, anchors, chosen.size)


def run(model: onnx.ModelProto, inputs: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """The outputs of a model, on the CPU."""
    import onnxruntime  # noqa: PLC0415  (half a second)

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, inputs))


def run_pipeline(model: onnx.ModelProto, scene: Scene) -> list[NDArray[Any]]:
    """Depth, deviation, outlier probability and status of a scene."""
    return run(model, {"image": scene.image, "anchors": scene.anchors, "count": np.array([scene.num_readings])})


def check_pipeline(model: onnx.ModelProto, calibrator: Calibrator, sizes: Sizes) -> dict[str, Any]:
    """Differences between the model and the library, for the manifest.

    Raises:
        ContractError: they are not those of rounding.
    """
    scene = photograph(sizes)
    depth_m, sigma_m, outlier, status = run_pipeline(model, scene)
    expected = calibrator(scene.image, scene.readings)
    measured: dict[str, Any] = {
        "scene": "Middlebury 2014 Motorcycle, a quarter of the readings wrong",
        "readings": scene.num_readings,
        "depth_relative_difference": _relative(depth_m, expected.depth_m),
        "sigma_relative_difference": _relative(sigma_m, expected.sigma_m),
        "verdicts_equal": bool((outlier[: scene.num_readings] == expected.anchors.outlier_probability).all()),
        "status": STATUSES[int(status[0])],
    }
    apart = max(measured["depth_relative_difference"], measured["sigma_relative_difference"])
    if apart > TOLERANCE or not measured["verdicts_equal"] or measured["status"] != expected.status:
        raise ContractError(
            f"export: the graph and the library differ on the test scene ({measured}; the library's status is "
            f"{expected.status}); at most {TOLERANCE:g} is needed. Nothing was written. Please report it."
        )
    return measured


def check_foundation(model: onnx.ModelProto, network: Embedded, sizes: Sizes) -> dict[str, Any]:
    """The largest difference of log depth between the model and the library, for the manifest.

    Raises:
        ContractError: it is not that of rounding.
    """
    image = photograph(sizes).image
    (log_depth,) = run(model, {"image": image})
    expected = replace(network, space="log_depth")(image).values
    apart = float(np.abs(log_depth - expected).max())
    if not apart <= TOLERANCE:
        raise ContractError(
            f"export: log depth of the graph and of the library differ by {apart:g} on the test scene; at most "
            f"{TOLERANCE:g} is needed. Nothing was written. Please report it."
        )
    return {"scene": "Middlebury 2014 Motorcycle", "log_depth_difference": apart}


def _relative(values: FloatArray, expected: FloatArray) -> float:
    return float(np.abs(values / expected - 1.0).max())
