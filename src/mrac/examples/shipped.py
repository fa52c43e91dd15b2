"""Frames in the package: a JPEG, true depth as a 16-bit PNG, and readings, camera and titles as JSON.

The writing half is here too, so that both agree; `mrac.lab.example_frames` calls it.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.examples.example import Example
from mrac.io.files import read_png16, scale_text, write_whole
from mrac.io.image import read_image

FRAMES: Final = Path(__file__).parent / "frames"
_JPEG_QUALITY: Final = 90


def load_shipped(name: str, folder: Path = FRAMES) -> Example:
    """Reads NAME.jpg, NAME.png and NAME.json of a folder."""
    about = json.loads((folder / f"{name}.json").read_bytes())
    stored, scale = read_png16(folder / f"{name}.png")
    readings = np.array(about["readings"], np.float64)
    return Example(
        name=name,
        title=about["title"],
        image=read_image(folder / f"{name}.jpg"),
        anchors=Anchors(readings[:, :2], readings[:, 2]),
        wrong=readings[:, 3] > 0,
        fault=about["fault"],
        depth_m=np.where(stored > 0, stored / (scale or 1000.0), np.nan).astype(np.float32),
        camera=Camera(**about["camera"]),
        licence=about["licence"],
    )


def write_shipped(frame: Example, folder: Path, depth_scale: float) -> None:
    """Writes the three files of a frame.

    Args:
        frame: its readings are stored to the millimetre, at whole pixels.
        folder: created where it is missing.
        depth_scale: stored units per metre of the depth PNG; 65535 of them hold the farthest pixel.
    """
    readings = zip(frame.anchors.uv_px.tolist(), frame.anchors.z_m.tolist(), frame.wrong.tolist(), strict=True)
    rows = [json.dumps([int(u), int(v), round(z, 3), int(wrong)]) for (u, v), z, wrong in readings]
    about = {"title": frame.title, "fault": frame.fault, "licence": frame.licence, "camera": asdict(frame.camera)}
    head = json.dumps(about, indent=2, ensure_ascii=False).removesuffix("\n}")
    # One reading on a line: u, v, z_m, wrong.
    text = head + ',\n  "readings": [\n    ' + ",\n    ".join(rows) + "\n  ]\n}\n"
    steps = np.nan_to_num(np.rint(frame.depth_m * np.float64(depth_scale)), nan=0.0).astype(np.uint16)
    scale = scale_text(depth_scale)
    photo, depth = Image.fromarray(frame.image), Image.fromarray(steps)
    write_whole(folder / f"{frame.name}.jpg", lambda file: photo.save(file, format="JPEG", quality=_JPEG_QUALITY))
    write_whole(folder / f"{frame.name}.png", lambda file: depth.save(file, format="PNG", pnginfo=scale, optimize=True))
    write_whole(folder / f"{frame.name}.json", lambda file: file.write(text.encode()))
