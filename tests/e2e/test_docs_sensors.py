"""Every block of docs/sensors.md runs as printed, on files made from the real photograph that the demo ships.

Depth is Middlebury's measurement of that scene; the sensors' files are written from it, in their own frames and units.
"""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mrac import Camera, MetricDepth, Pose
from mrac.clouds import write_ply
from mrac.conventions import FloatArray
from mrac.demo import DemoScene, motorcycle
from tests.e2e.test_cli import mrac_here

PAGE = Path(__file__).parents[2] / "docs" / "sensors.md"
RESULTS = PAGE.parents[1] / "results" / "mistakes--2cores-x86_64--2026-11-16" / "seed0.json"
CAMERA = Camera(994.978, 994.978, 311.193, 254.877, 741, 500)  # Middlebury's calibration of these images
BASELINE_M = 0.193001
UNIT_M = 0.5  # of the COLMAP model
FORWARD_LEFT_UP = np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])  # camera from x forward, y left, z up
FOV_DEG = (30.0, 25.0)  # of the zone sensor
LIDAR = (0.0, -0.08, -0.1)  # of its origin in the camera's frame: 8 cm above it, 10 cm behind
BLOCK = re.compile(r"```(sh|python)\n(.*?)```", re.DOTALL)


def pose_of(rotation: FloatArray, shift_m: tuple[float, float, float]) -> Pose:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, shift_m
    return Pose(matrix)


def save_camera(path: Path, camera: Camera) -> None:
    numbers = {"fx": camera.fx_px, "fy": camera.fy_px, "cx": camera.cx_px, "cy": camera.cy_px}
    path.write_text(json.dumps({**numbers, "width": camera.width, "height": camera.height}))


def measured(scene: DemoScene, stride: int) -> tuple[FloatArray, FloatArray]:
    """Every `stride`-th pixel that has depth: (K, 2) pixels and (K,) metres."""
    grid = np.zeros(scene.truth_m.shape, np.bool_)
    grid[::stride, ::stride] = True
    v, u = np.nonzero(grid & np.isfinite(scene.truth_m))
    return np.stack([u, v], axis=1).astype(np.float64), scene.truth_m[v, u].astype(np.float64)


def write_tables(folder: Path, scene: DemoScene) -> None:
    """Readings of the demo, a quarter of them wrong: depth in millimetres, and as lengths of rays."""
    uv, z = scene.anchors.uv_px, scene.anchors.z_m
    length = np.linalg.norm(CAMERA.rays(uv), axis=1) * z
    with (folder / "readings.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["u", "v", "z [mm]", "sigma [mm]", "confidence", "flag"])
        for i, ((u, v), depth) in enumerate(zip(uv, z, strict=True)):
            table.writerow([u, v, round(1000 * depth), 20, 0.4 if i % 10 == 1 else 0.9, 4 if i % 10 == 0 else 0])
    rows = [f"{u},{v},{r:.4f}" for (u, v), r in zip(uv, length, strict=True)]
    (folder / "rays.csv").write_text("\n".join(["u,v,range_m", *rows]))
    rows = [f"{u},{v},{1000 * d:.0f}" for (u, v), d in zip(uv, z, strict=True)]
    (folder / "forgot_the_unit.csv").write_text("\n".join(["u,v,z", *rows]))
    stored = np.append(np.round(200 * z), [0, 4095])  # of a sensor of one's own: 5 mm a step, 0 and 4095 no reading
    rows = [f"{u},{v},{s:.0f}" for (u, v), s in zip([*uv, (5, 5), (9, 9)], stored, strict=True)]
    (folder / "mine.csv").write_text("\n".join(["u,v,distance", *rows]))


def write_scans(folder: Path, scene: DemoScene) -> None:
    """The scene as a LiDAR beside the camera has it: KITTI's files, PLY, PCD, LAS; and one row of it as a 2-D scan."""
    import laspy  # noqa: PLC0415  (of the extra `sensors`)

    uv, z = measured(scene, 6)
    from_lidar = pose_of(FORWARD_LEFT_UP, LIDAR)
    xyz = from_lidar.inverse().apply(CAMERA.unproject(uv, z))
    np.concatenate([xyz, np.ones((len(xyz), 1))], axis=1).astype("<f4").tofile(folder / "scan.bin")
    write_ply(folder / "scan.ply", xyz)
    header = "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nVIEWPOINT 0 0 0 1 0 0 0"
    body = "\n".join(" ".join(f"{value:.4f}" for value in row) for row in xyz)
    size = f"WIDTH {len(xyz)}\nHEIGHT 1\nPOINTS {len(xyz)}\nDATA ascii"
    (folder / "scan.pcd").write_text(f"{header}\n{size}\n{body}\n")
    las = laspy.create()
    las.header.scales = np.full(3, 0.001)
    las.x, las.y, las.z = xyz.T
    las.write(folder / "scan.las")
    np.savetxt(folder / "pose.txt", from_lidar.matrix)
    projection = np.concatenate([CAMERA.matrix, np.zeros((3, 1))], axis=1)
    lines = {"P2": projection, "R0_rect": np.eye(3), "Tr_velo_to_cam": from_lidar.matrix[:3]}
    text = [f"{name}: {' '.join(map(repr, np.ravel(m).tolist()))}" for name, m in lines.items()]
    (folder / "calib.txt").write_text("\n".join(text))

    row = CAMERA.unproject(uv[uv[:, 1] == 252], z[uv[:, 1] == 252])
    from_laser = pose_of(FORWARD_LEFT_UP, (0.0, float(np.median(row[:, 1])), 0.0))
    flat = from_laser.inverse().apply(row * [1, 0, 1] + [0, from_laser.matrix[1, 3], 0])
    angles, ranges = np.arctan2(flat[:, 1], flat[:, 0]), np.hypot(flat[:, 0], flat[:, 1])
    stored: list[float | None] = np.where(np.arange(ranges.size) % 25 == 7, np.nan, ranges).tolist()
    stored = [None if value != value else value for value in stored]  # noqa: PLR0124  (NaN)
    scan = {"angles": angles.tolist(), "ranges": stored, "range_min": 0.15, "range_max": 12.0}
    (folder / "scan.json").write_text(json.dumps(scan))
    np.savetxt(folder / "laser_pose.txt", from_laser.matrix)


def write_depth(folder: Path, scene: DemoScene) -> None:
    """A depth image of 256 × 173 of the same view with ARKit's levels, and one of a camera 5 cm to the left."""
    h, w = 173, 256
    v, u = np.mgrid[0:h, 0:w]
    at_u, at_v = np.rint((u + 0.5) * 741 / w - 0.5).astype(int), np.rint((v + 0.5) * 500 / h - 0.5).astype(int)
    z = np.nan_to_num(scene.truth_m[at_v.clip(0, 499), at_u.clip(0, 740)])
    level = np.where(z > 3.5, 1, 2)
    wrong = np.random.default_rng(0).random(z.shape) < 0.05
    level[wrong], z[wrong] = 0, 0.6 * z[wrong]
    level[60:80, 60:90] = 0  # a patch that the phone doubts as a whole: no surer reading beside it
    Image.fromarray(np.round(1000 * z).astype(np.uint16)).save(folder / "depth.png")
    Image.fromarray(level.astype(np.uint8)).save(folder / "confidence.png")
    shifted = pose_of(np.eye(3), (-0.05, 0.0, 0.0))  # camera from depth camera
    save_camera(folder / "depth_camera.json", CAMERA.resized(w, h))
    np.savetxt(folder / "depth_pose.txt", shifted.matrix)
    uv, depth = measured(scene, 1)
    xyz = shifted.inverse().apply(CAMERA.unproject(uv, depth))
    there = np.rint(CAMERA.resized(w, h).project(xyz)).astype(int)
    inside = ((there >= 0) & (there < (w, h))).all(axis=1)
    seen = np.full((h, w), np.inf)
    np.minimum.at(seen, tuple(there[inside].T[::-1]), xyz[inside, 2])
    seen[~np.isfinite(seen)] = 0.0
    Image.fromarray(np.round(1000 * seen).astype(np.uint16)).save(folder / "other_depth.png")


def write_zones(folder: Path, scene: DemoScene) -> None:
    """8 × 8 zones around the axis, each the mean depth of what it sees, with ST's status; two without a target."""
    edges = [
        np.rint(middle + f * np.tan(np.deg2rad(angle / 2)) * np.linspace(-1, 1, 9) + 0.5).astype(int)
        for middle, f, angle in ((CAMERA.cx_px, CAMERA.fx_px, FOV_DEG[0]), (CAMERA.cy_px, CAMERA.fy_px, FOV_DEG[1]))
    ]
    z = [[np.nanmean(scene.truth_m[a:b, c:d]) for c, d in pairwise(edges[0])] for a, b in pairwise(edges[1])]
    millimetres = np.round(1000 * np.array(z)).astype(int).ravel()
    status = np.full(64, 5)
    status[[3, 40]], millimetres[[3, 40]] = 255, 0
    status[[10, 20]] = 9
    content = {"distance_mm": millimetres.tolist(), "target_status": status.tolist()}
    (folder / "zones.json").write_text(json.dumps(content))


def write_colmap(folder: Path, scene: DemoScene) -> None:
    """The two photographs of the stereo pair as a model of COLMAP, 400 points, in units of half a metre."""
    model = folder / "sparse" / "0"
    model.mkdir(parents=True)
    rng = np.random.default_rng(1)
    uv, z = measured(scene, 3)
    chosen = rng.choice(len(z), 400, replace=False)
    xyz = CAMERA.unproject(uv[chosen], z[chosen])
    right = CAMERA.project(xyz - [BASELINE_M, 0.0, 0.0])
    # COLMAP has the first pixel's centre at (0.5, 0.5).
    numbers = (CAMERA.fx_px, CAMERA.fy_px, CAMERA.cx_px + 0.5, CAMERA.cy_px + 0.5)
    (model / "cameras.txt").write_text(f"1 PINHOLE 741 500 {' '.join(map(str, numbers))}\n")
    images = []
    for number, (name, places, shift) in enumerate(
        [("photo.png", uv[chosen], 0.0), ("right.png", right, -BASELINE_M / UNIT_M)], start=1
    ):
        keypoints = " ".join(f"{u + 0.5:.3f} {v + 0.5:.3f} {i}" for i, (u, v) in enumerate(places))
        images.append(f"{number} 1 0 0 0 {shift} 0 0 1 {name}\n{keypoints}\n")
    (model / "images.txt").write_text("".join(images))
    points = [f"{i} {x} {y} {d} 128 128 128 0.5 1 {i} 2 {i}\n" for i, (x, y, d) in enumerate((xyz / UNIT_M).tolist())]
    (model / "points3D.txt").write_text("".join(points))


def section(title: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    start = re.search(rf"^## {re.escape(title)}.*$", text, re.MULTILINE)
    assert start, title
    return text[start.end() :].partition("\n## ")[0]


def titles() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return [title for title in re.findall(r"^## (.*)$", text, re.MULTILINE) if BLOCK.search(section(title))]


@pytest.fixture(scope="module")
def scene() -> DemoScene:
    return motorcycle()


@pytest.fixture(scope="module")
def folder(scene: DemoScene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """All files that the page names; the working directory, with a cache so that the network runs once."""
    home = tmp_path_factory.mktemp("sensors")
    Image.fromarray(scene.image).save(home / "photo.png")
    save_camera(home / "camera.json", CAMERA)
    for write in (write_tables, write_scans, write_depth, write_zones, write_colmap):
        write(home, scene)
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (home / "sensor.toml").write_text(toml, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setenv("MRAC_CACHE", str(home / "cache"))
        yield home


REASONS = {  # that the page tells a reader to look at, and that these files give
    "A table of readings": {"nearer_than_neighbours", "low_confidence", "sensor_status_4"},
    "A depth camera or a phone": {"low_confidence", "occluded"},
    "A multizone time-of-flight sensor": {"no_target", "out_of_sensor_range"},
    "A 2-D laser scanner": {"invalid_range"},
    "A sensor of my own": {"saturated"},
}
AT_READINGS = 0.02  # median relative error of kept readings: a wrong unit, axis or pose gives far more
EVERYWHERE = {
    "A LiDAR scan": 0.015,
    "A depth camera or a phone": 0.015,
    "A 2-D laser scanner": 0.15,
}  # of the depth map
ELSEWHERE = "Exit codes, quiet, JSON, shell completion"


def median_error(depth_m: FloatArray, scene: DemoScene) -> float:
    return float(np.nanmedian(np.abs(depth_m / scene.truth_m - 1.0)))


def error_at_readings(entries: list[dict[str, Any]], scene: DemoScene) -> float:
    """Median relative error of the kept readings of a report, at the pixels that it states."""
    kept = np.array([(entry["u"], entry["v"], entry["z_m"]) for entry in entries if entry["keep"]], np.float64)
    u, v = np.rint(kept[:, :2]).astype(int).T
    return float(np.nanmedian(np.abs(kept[:, 2] / scene.truth_m[v, u] - 1.0)))


def run_line(line: str, scene: DemoScene, folder: Path, limit: float) -> set[str]:
    """One `mrac calibrate` of the page, in this process, checked; the reasons of its report."""
    words, comment = shlex.split(line, comments=True), line.partition(" # ")[2]
    assert words[:2] == ["mrac", "calibrate"], line
    done = mrac_here(*words[1:])
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    out = folder / words[words.index("--out") + 1]
    report = json.loads((out / "report.json").read_text())
    assert report["status"] == "ok", line
    noticed = re.findall(r"warning (\w+)", comment)
    assert [w["name"] for w in report["warnings"]] == noticed, line
    assert [word.partition(":")[0] for word in re.findall(r"^warning (\S+)", done.stdout, re.MULTILINE)] == noticed
    if not noticed:
        assert error_at_readings(report["anchors"], scene) < AT_READINGS, line
        with np.load(out / "depth.npz") as maps:
            assert median_error(maps["depth_m"], scene) < limit, line
    for name in (words[i + 1] for i, word in enumerate(words) if word == "--save"):
        assert (folder / name).stat().st_size > 100_000, name
    return {entry["reason"] for entry in report["anchors"]}


@pytest.mark.parametrize("title", [title for title in titles() if title != ELSEWHERE])
def test_the_blocks_of_a_section_run(title: str, scene: DemoScene, folder: Path) -> None:
    reasons: set[str] = set()
    limit = EVERYWHERE.get(title, 0.08)
    for language, block in BLOCK.findall(section(title)):
        lines = block.replace("\\\n", " ").splitlines()
        if language == "sh":
            assert len(lines) <= 3, "at most three commands"
            for line in lines:
                reasons |= run_line(line, scene, folder, limit)
            continue
        assert len(lines) <= 10, "at most ten lines of Python"
        names: dict[str, object] = {}
        with redirect_stdout(io.StringIO()):
            exec(compile(block, str(PAGE), "exec"), names)
        out = names["out"]
        assert isinstance(out, MetricDepth)
        assert (out.status, out.warnings) == ("ok", ())
        assert median_error(out.depth_m, scene) < limit
    assert REASONS.get(title, set()) <= reasons
    assert all(f"`{reason}`" in section(title) for reason in REASONS.get(title, ()))


def test_codes_json_and_completion_in_a_shell(folder: Path) -> None:
    first, second = (block for language, block in BLOCK.findall(section(ELSEWHERE)) if language == "sh")
    # `mrac calibrate --anch` and tab, as the function that the page's line defines completes it.
    tab = "COMP_WORDS=(mrac calibrate --anch) COMP_CWORD=2 COMPREPLY=()\n_mrac_completion mrac\necho ${COMPREPLY[*]}"
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-e", "-c", f"{first}{second}{tab}"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["exit code 2", "--anchors --anchors-scale"]
    assert len(done.stderr.splitlines()) == 1, "a mistake is one line"
    assert "missing.csv" in done.stderr
    assert json.loads((folder / "report.json").read_text())["status"] == "ok"


def test_the_header_of_the_table_is_that_of_the_file(folder: Path) -> None:
    (header,) = re.findall(r"```csv\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert (folder / "readings.csv").read_text().splitlines()[0] == header


def test_the_figures_of_what_is_noticed_are_those_of_the_run() -> None:
    stored = json.loads(RESULTS.read_text())
    sets = [stored["sets"][name] for name in ("nyu", "kitti15", "sunrgbd", "tum", "tabletop")]
    rows = [line.strip("|").split("|") for line in section("What is noticed").splitlines() if line.startswith("|")][2:]
    printed = {re.sub(r"\W", "", name): [float(cell) for cell in cells] for name, *cells in rows}
    labels = {
        "unitsmmcmorkmform": ("units: mm", "units: cm", "units: km"),
        "unitsfeetform": ("units: feet",),
        "swapped_uv": ("swapped_uv",),
        "image_sizepixelsofanothersize": ("image_size",),
        "normalised_uv0to1forpixels": ("normalised_uv",),
        "mirroredleftandright": ("mirrored: left-right",),
        "mirroredtopandbottom": ("mirrored: top-bottom",),
        "rotated180": ("rotated: 180",),
        "rotated90": ("rotated: 90",),
        "range_not_zraylengthforzcameragiven": ("range_not_z",),
        "saturatedafifthatthelargestvalue": ("saturated",),
        "all_equal": ("all_equal",),
        "at_borderclippedtotheimage": ("at_border",),
    }
    expected = {
        row: [each["noticed_percent"][label] for each in sets] for row, names in labels.items() for label in names
    }
    for row, kind in (("falsealarmscleanreadings", "clean"), ("falsealarmsaquarterwrong", "outliers")):
        expected[row] = [max(each["false_alarms_percent"][kind].values()) for each in sets]
    assert printed == expected
    assert "".join(stored["command"].split()) in "".join(section("What is noticed").split())


def test_every_link_leads_somewhere() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for file, anchor in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text):
        target = PAGE.parent / file if file else PAGE
        assert target.exists(), file
        if anchor:
            heads = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}, anchor
