"""The embedded network with 8-bit convolutions, for ONNX Runtime on a processor."""

import logging
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import MissingExtra
from mrac.foundation.embedded import network_input
from mrac.lab.export.onnx import OUTPUT

# The first and the last convolution are a tenth of the time and see the image and the depth itself. Sums are not asked
# for, but ONNX Runtime adds in 8 bits wherever two 8-bit tensors are added to become one: 21 sums of this network. In
# single precision those would change the field by a fortieth of its error, and take the time that they save elsewhere.
_IN_8_BITS: Final = ("Conv", "Clip")


def calibrated(network: Path, images: Iterable[ImageArray]) -> Any:
    """`network`, a file of `mrac train foundation`, with its convolutions in 8 bits: a model of the onnx package.

    Ranges of activations are the means over `images` of each image's extremes. The extremes over all of them are far
    wider: on training frames of NYUv2 and KITTI they cost 12 to 14 % more error of the depth, in place of 2 to 4 %.
    Near scenes lose more with either. Percentiles over indoor frames doubled the error on streets. What ships is
    fine-tuned from there (`lab/train/quantized`). Weights have 7 bits, so that sums of two products fit into the 16
    bits in which processors without VNNI add them.

    Args:
        network: .onnx file in single precision.
        images: (H, W, 3) uint8 each, of all kinds of scenes that the network is for.

    Raises:
        MissingExtra: `onnx` is not installed.
    """
    try:
        import onnx  # noqa: PLC0415
        import onnxruntime  # noqa: PLC0415
        from onnxruntime.quantization import QuantFormat, QuantType, quantize_static  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("8-bit networks", "lab") from None
    with tempfile.TemporaryDirectory() as folder:
        plain, written = Path(folder) / "plain.onnx", Path(folder) / "int8.onnx"
        options = onnxruntime.SessionOptions()  # saving the graph after loading turns shortened weights into numbers
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(plain)
        onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
        convolutions = [node.name for node in onnx.load(plain).graph.node if node.op_type == "Conv"]
        last = len(OUTPUT) if convolutions[-1] == OUTPUT[-1] else 1
        logging.disable(logging.WARNING)  # it advises a shape inference that dynamic sizes make useless
        try:
            quantize_static(
                plain,
                written,
                _reader(images),
                quant_format=QuantFormat.QDQ,
                op_types_to_quantize=list(_IN_8_BITS),
                per_channel=True,
                reduce_range=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                nodes_to_exclude=[convolutions[0], *convolutions[-last:]],
                extra_options={"WeightSymmetric": True, "CalibMovingAverage": True},
            )
        finally:
            logging.disable(logging.NOTSET)
        return onnx.load(written)


def _reader(images: Iterable[ImageArray]) -> Any:
    """What onnxruntime draws calibration inputs from."""
    from onnxruntime.quantization import CalibrationDataReader  # noqa: PLC0415

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._images = iter(images)

        def get_next(self) -> dict[str, FloatArray] | None:
            image = next(self._images, None)
            return None if image is None else {"image": network_input(image)}

    return Reader()
