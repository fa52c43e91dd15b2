"""What may be done with every weight file, foundation and method: the table behind docs/licences.md.

The code is Apache-2.0 throughout. What limits a use is the weights, and the data that they were trained on.
"""

from dataclasses import dataclass
from typing import Final, Literal

from mrac.foundation._catalog import CATALOG, Entry
from mrac.methods import METHODS, Method

Use = Literal["any use", "research only", "non-commercial", "its own terms"]
_ORDER: Final[tuple[Use, ...]] = ("research only", "non-commercial", "its own terms", "any use")  # strictest first


@dataclass(frozen=True)
class Terms:
    """What may be done with one thing.

    Attributes:
        kind: `file`, `foundation` or `method`.
        name: of the file in mrac/weights, or what users type.
        use: in two words.
        why: whose licence, or which part of a method limits it.
    """

    kind: str
    name: str
    use: Use
    why: str


_OURS: Final = "trained by us on NYUv2, KITTI and more, which are for research"
_FILES: Final[dict[str, tuple[Use, str]]] = {
    "b_prime.onnx": ("research only", _OURS),
    "b_prime_inverse.onnx": ("research only", _OURS),
    "b_prime.safetensors": ("research only", _OURS),
    "consensus_learned.npz": ("research only", _OURS),
    "dav2_small.onnx": ("any use", "a graph of ours without weights, Apache-2.0"),
    "embedded.onnx": ("research only", _OURS),
    "embedded_int8.onnx": ("research only", _OURS),
    "raw_depth.onnx": ("research only", _OURS),
    "raw_depth_inverse.onnx": ("research only", _OURS),
    "raw_depth.safetensors": ("research only", _OURS),
    "sml_retrained.onnx": ("research only", _OURS),
    "vanilla.onnx": ("research only", _OURS),
    "vanilla_inverse.onnx": ("research only", _OURS),
    "vanilla.safetensors": ("research only", _OURS),
}
_FOUNDATIONS: Final[dict[str, tuple[Use, str]]] = {
    "da3": ("its own terms", "those of the checkpoint; short names below"),
    "dav2_small": ("any use", "weights Apache-2.0, the graph ours"),
    "embedded": ("research only", f"embedded.onnx, embedded_int8.onnx: {_OURS}"),
    "hf": ("its own terms", "those of the checkpoint; short names below"),
    "marigold": ("its own terms", "those of the checkpoint; short names below"),
    "moge": ("its own terms", "those of the checkpoint; short names below"),
    "none": ("any use", "no network, code alone: Apache-2.0"),
    "onnx": ("its own terms", "those of your network"),
    "precomputed": ("its own terms", "those of the network that made the file"),
}
# Gates and heads that read weights, by the start of their spec.
_STAGES: Final[dict[str, tuple[Use, str]]] = {
    "consensus_learned": ("research only", "consensus_learned.npz"),
    "residual_unet:weights=vanilla": ("research only", "vanilla.onnx"),
    "residual_unet:weights=b_prime": ("research only", "b_prime.onnx"),
    "raw_unet:weights=raw_depth": ("research only", "raw_depth.onnx"),
    "sml:weights=sml_retrained": ("research only", "sml_retrained.onnx"),
    "sml:predictor=": ("its own terms", "VI-Depth's checkpoint: its code is MIT, its weights state nothing we know"),
}
# Where we know the licence of the code, or of a sibling, and have not seen that of these weights themselves.
_NOT_SEEN: Final = ("dav1-", "dav2-metric-", "dpt-hybrid", "dpt-swinv2-", "marigold-v1-0", "moge-", "zoedepth-")
_FREE: Final = ("Apache-2.0", "MIT")


def all_terms() -> list[Terms]:
    """Everything that ships or can be named: files, foundations with their short names, methods; plug-ins excepted."""
    files = [Terms("file", name, *terms) for name, terms in _FILES.items()]
    own = [Terms("foundation", name, *terms) for name, terms in _FOUNDATIONS.items()]
    short = [Terms("foundation", name, *_checkpoint(entry)) for name, entry in CATALOG.items()]
    return files + own + short + [Terms("method", name, *method_terms(method)) for name, method in METHODS.items()]


def method_terms(method: Method) -> tuple[Use, str]:
    """What may be done with a method as it comes: the strictest of its parts, and which these are."""
    name = method.foundation.partition(":")[0]
    if name in CATALOG:
        use, why = _checkpoint(CATALOG[name])
        parts = [(use, f"{name}: {why}")]
    elif name in _FOUNDATIONS:
        use, why = _FOUNDATIONS[name]
        own = "embedded_int8.onnx" if "precision=int8" in method.foundation else "embedded.onnx"
        parts = [(use, own if name == "embedded" else why)]
    else:
        parts = [("its own terms", f"plug-in {name}")]
    for spec in (method.gate, method.fit, method.head):
        parts += [terms for start, terms in _STAGES.items() if spec.startswith(start)]
    strictest = min((use for use, _ in parts), key=_ORDER.index)
    return strictest, "; ".join(why for use, why in parts if use == strictest)


def _checkpoint(entry: Entry) -> tuple[Use, str]:
    """The terms of published weights."""
    seen = not entry.name.startswith(_NOT_SEEN)
    note = entry.licence if seen else f"{entry.licence}, as we believe: check the model card"
    if entry.non_commercial:
        return "non-commercial", note
    return ("any use" if entry.licence in _FREE and seen else "its own terms"), note
