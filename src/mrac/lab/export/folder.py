"""The folder of an exported method: ONNX files, a manifest that says what is in them, and how to run them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from mrac.errors import ContractError
from mrac.foundation.embedded import Embedded
from mrac.head._learned import LearnedHead
from mrac.io.files import write_json, write_whole
from mrac.lab.export.check import check_foundation, check_pipeline
from mrac.lab.export.pipeline.status import STATUSES
from mrac.lab.export.pipeline.whole import (
    EXPRESSIBLE,
    Sizes,
    foundation_model,
    interface,
    missing_stages,
    pipeline_model,
)
from mrac.pipeline import Calibrator
from mrac.registry import stage_name, stage_options
from mrac.version import __version__

Part = Literal["pipeline", "foundation", "head"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
_LIMITS: Final = (
    "readings in one pixel are not merged: give one per pixel",
    "stated deviations, areas and confidences of readings are not inputs",
    "where no reading is usable the result is that of none, status no_anchors; the library raises",
)


class Exported(NamedTuple):
    """What was written.

    Attributes:
        files: their paths.
        missing: stages that are in no pipeline.onnx, and why; empty where there is one, or where none was asked for.
        check: differences from the library, by part.
    """

    files: list[Path]
    missing: dict[str, str]
    check: dict[str, dict[str, Any]]


def export(calibrator: Calibrator, folder: Path, sizes: Sizes, parts: Sequence[Part] = ()) -> Exported:
    """Writes a calibrator as ONNX files: pipeline.onnx, foundation.onnx, head.onnx, export.json and README.md.

    Each graph is run beside the library before it is written.

    Args:
        calibrator: its method names the export.
        folder: made where it is missing; files of an earlier export are replaced.
        sizes: of images and readings.
        parts: what to write; empty writes all that can be.

    Raises:
        ContractError: a part that was asked for cannot be written, or none can; or a graph differs from the library.
        MissingExtra: scikit-image, which carries the test scene, is not installed.
    """
    missing = missing_stages(calibrator)
    possible = _possible(calibrator, missing)
    wanted = list(dict.fromkeys(parts)) or [part for part in PARTS if part in possible]
    _check_possible(calibrator, wanted, possible, missing)
    content: dict[str, bytes] = {}
    check: dict[str, dict[str, Any]] = {}
    if "pipeline" in wanted:
        model = pipeline_model(calibrator, sizes)
        check["pipeline"] = check_pipeline(model, calibrator, sizes)
        content["pipeline.onnx"] = model.SerializeToString()
    if "foundation" in wanted:
        assert isinstance(calibrator.foundation, Embedded)
        model = foundation_model(calibrator.foundation, sizes)
        check["foundation"] = check_foundation(model, calibrator.foundation, sizes)
        content["foundation.onnx"] = model.SerializeToString()
    if "head" in wanted:
        assert isinstance(calibrator.head, LearnedHead)
        content["head.onnx"] = calibrator.head.head_file().path.read_bytes()
    for name, data in content.items():
        write_whole(folder / name, lambda file, data=data: file.write(data))  # type: ignore[misc]
    for part in PARTS:  # what an earlier export left there would not be what the manifest says
        if f"{part}.onnx" not in content:
            (folder / f"{part}.onnx").unlink(missing_ok=True)
    write_json(folder / "export.json", _manifest(calibrator, sizes, content, missing, check))
    text = _readme(calibrator, sizes, list(content), missing)
    write_whole(folder / "README.md", lambda file: file.write(text.encode()))
    files = [folder / name for name in (*content, "export.json", "README.md")]
    return Exported(files, missing if "pipeline" in wanted or not parts else {}, check)


def _possible(calibrator: Calibrator, missing: dict[str, str]) -> list[Part]:
    possible: list[Part] = [] if missing else ["pipeline"]
    if isinstance(calibrator.foundation, Embedded):
        possible.append("foundation")
    if isinstance(calibrator.head, LearnedHead):
        possible.append("head")
    return possible


def _check_possible(
    calibrator: Calibrator, wanted: Sequence[Part], possible: Sequence[Part], missing: dict[str, str]
) -> None:
    offer = f"--part {' --part '.join(possible)} can be written" if possible else "no other part of it can be, either"
    whole = f"export: {calibrator.method} cannot be one ONNX graph: {'; '.join(missing.values())}"
    if not wanted or ("pipeline" in wanted and missing):
        raise ContractError(f"{whole}; {offer}")
    for part in wanted:
        if part not in possible:
            what = stage_name(getattr(calibrator, part))
            raise ContractError(f"export: {calibrator.method} has no {part} that is a network file ({what}); {offer}")


def _manifest(
    calibrator: Calibrator,
    sizes: Sizes,
    content: dict[str, bytes],
    missing: dict[str, str],
    check: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    (H, W), num = sizes
    stages = {}
    for stage in EXPRESSIBLE:
        made = getattr(calibrator, stage)
        files = [name for name in ("pipeline.onnx", f"{stage}.onnx") if name in content]
        stages[stage] = {"name": stage_name(made), "options": stage_options(made), "files": files}
        stages[stage] |= {"not_in_a_graph": missing[stage]} if stage in missing else {}
    return {
        "method": calibrator.method,
        "version": __version__,
        "size": {"height": H, "width": W},
        "max_anchors": num,
        "space": calibrator.space or getattr(calibrator.foundation, "space", ""),
        "stages": stages,
        "files": {
            name: {**_sides(name, sizes), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in content.items()
        },
        "statuses": list(STATUSES),
        "limits": list(_LIMITS),
        "difference_from_the_library": check,
    }


def _sides(name: str, sizes: Sizes) -> dict[str, dict[str, str]]:
    """Inputs and outputs of a file, in words."""
    H, W = sizes.image
    if name == "pipeline.onnx":
        return interface(sizes)
    if name == "foundation.onnx":
        return {
            "inputs": {"image": f"uint8 ({H}, {W}, 3), RGB"},
            "outputs": {"log_depth": f"float32 ({H}, {W}), ln of depth in metres up to a shift"},
        }
    return {  # any size: the network alone
        "inputs": {
            "image": "float32 (1, 3, h, w), RGB from 0 to 255",
            "relative": "float32 (1, 1, h, w), relative depth, 2nd percentile at 0 and 98th at 1",
            "mask": "float32 (1, 1, h, w), 1 where there is a reading",
            "anchor": "float32 (1, 1, h, w), metres where there is one",
        },
        "outputs": {"maps": "float32 (1, n, h, w): corrections of the line, or log depth; last the log-variance"},
    }


def _readme(calibrator: Calibrator, sizes: Sizes, files: list[str], missing: dict[str, str]) -> str:
    (H, W), num = sizes
    head = [f"# {calibrator.method}, mrac {__version__}, {H}x{W}", "", f"{', '.join(files)}; export.json has the rest."]
    if "pipeline.onnx" not in files:
        reasons = [f"Not in a file: {'; '.join(missing.values())}."] if missing else []
        return "\n".join([*head, *reasons, ""])
    code = f"""```python
import numpy as np, onnxruntime
from PIL import Image
image = np.asarray(Image.open("a.png").convert("RGB"))       # ({H}, {W}, 3) uint8
readings = np.loadtxt("a.csv", delimiter=",", skiprows=1)    # u_px, v_px, z_m
anchors = np.zeros(({num}, 3), np.float32)
anchors[: len(readings)] = readings[:, :3]
inputs = {{"image": image, "anchors": anchors, "count": np.array([len(readings)])}}
depth_m, sigma_m, outlier_probability, status = onnxruntime.InferenceSession("pipeline.onnx").run(None, inputs)
```"""
    return "\n".join([*head, "", code, ""])
