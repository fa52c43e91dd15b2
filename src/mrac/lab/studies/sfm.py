"""Depth from points of structure from motion: a model is built from frames of a pack, its points are the anchors.

    python -m mrac.lab.studies.sfm --data ../shared/data/eval --set tum --scene fr1_xyz

COLMAP (`pip install pycolmap`) finds SIFT keypoints, matches all pairs and maps them; the largest model counts.
Its scale is the median over the images of `sfm.scale_from` with the pack's depth: a user takes it from a few readings.
A point is wrong where no depth within 2 pixels agrees with it to 10 %, since keypoints lie on edges; one without any
depth there is not judged.
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Anchors, Calibrator
from mrac.anchors.colmap import from_colmap
from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError, MissingExtra
from mrac.lab.data.manifest import Frame, read_manifest
from mrac.lab.studies.protocol import abs_rel, results_folder, summary, truth_of, write_results
from mrac.sfm import SfmModel, read_model, scale_from

_WRONG: Final = 0.1
_RADIUS_PX: Final = 2
_METHODS: Final[dict[str, dict[str, str]]] = {
    "default": {},
    "no noise, confidence": {},
    "gate none": {"gate": "none"},
    "foundation none": {"foundation": "none"},
}


def file_name(frame: Frame) -> str:
    """Of a frame among the images of a model."""
    return f"{frame.row['id']}{Path(frame.row['rgb']).suffix}"


def build_model(
    frames: Sequence[Frame], folder: Path, pinhole: str = "", seed: int = 0, num_features: int = 3000, threads: int = 2
) -> Path:
    """Runs COLMAP on frames of one camera.

    Args:
        frames: of one scene.
        folder: for the images, the database and the models; emptied before.
        pinhole: fx,fy,cx,cy in pixels as COLMAP counts them; empty: it finds focal length and distortion itself.
        seed: of COLMAP's random choices; with one thread a run can be repeated exactly.
        num_features: per image, at most.
        threads: of COLMAP.

    Returns:
        The folder of the model that registers most images.

    Raises:
        ContractError: no two images could be registered.
    """
    try:
        import pycolmap  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("building a model of structure from motion", "dev") from None
    pycolmap.logging.minloglevel = 3
    shutil.rmtree(folder, ignore_errors=True)
    images, database, models = folder / "images", folder / "database.db", folder / "sparse"
    for made in (images, models):
        made.mkdir(parents=True)
    for frame in frames:
        shutil.copy(frame.file("rgb"), images / file_name(frame))
    extraction, matching = pycolmap.FeatureExtractionOptions(), pycolmap.FeatureMatchingOptions()
    mapping = pycolmap.IncrementalPipelineOptions()
    extraction.num_threads = matching.num_threads = mapping.num_threads = threads
    verification = pycolmap.TwoViewGeometryOptions()
    verification.ransac.random_seed = mapping.random_seed = seed
    pycolmap.set_random_seed(seed)
    extraction.use_gpu = matching.use_gpu = False
    reading = pycolmap.ImageReaderOptions()
    if pinhole:
        reading.camera_model, reading.camera_params = "PINHOLE", pinhole
        mapping.ba_refine_focal_length = mapping.ba_refine_extra_params = False
    extraction.sift.max_num_features = num_features
    pycolmap.extract_features(
        database, images, camera_mode=pycolmap.CameraMode.SINGLE, reader_options=reading, extraction_options=extraction
    )
    pycolmap.match_exhaustive(database, matching_options=matching, verification_options=verification)
    found = pycolmap.incremental_mapping(database, images, models, mapping)
    if not found:
        raise ContractError(f"studies/sfm: COLMAP registered none of {len(frames)} images; take other frames")
    return models / str(max(found, key=lambda number: found[number].num_reg_images()))


def model_scale(model: SfmModel, frames: dict[str, Frame]) -> float:
    """Metres per unit: the median over the images."""
    scales = []
    for image in model.images.values():
        truth_m = truth_of(frames[image.name])
        v, u = np.nonzero(truth_m > 0.0)
        scales.append(
            scale_from(model, image.name, np.stack([u, v], axis=1), truth_m[v, u], max_distance_px=_RADIUS_PX)
        )
    return float(np.median(scales))


def judged(anchors: Anchors, truth_m: FloatArray) -> tuple[BoolArray, BoolArray]:
    """(K,) where there is truth near an anchor, and where none of it agrees with the anchor."""
    height, width = truth_m.shape
    u, v = np.rint(anchors.uv_px).astype(int).T
    off = np.full(len(anchors), np.inf)
    for down in range(-_RADIUS_PX, _RADIUS_PX + 1):
        for right in range(-_RADIUS_PX, _RADIUS_PX + 1):
            truth = truth_m[(v + down).clip(0, height - 1), (u + right).clip(0, width - 1)]
            error = np.abs(anchors.z_m / np.where(truth > 0.0, truth, np.nan) - 1.0)
            off = np.fmin(off, error)
    return np.isfinite(off), np.isfinite(off) & (off > _WRONG)


def row_of(frame: Frame, anchors: Anchors, calibrators: dict[str, Calibrator]) -> dict[str, float]:
    """One image: how many points, how many are wrong, the error of each method, and the gate's verdicts."""
    image, truth_m = frame.image(), truth_of(frame)
    known, wrong = judged(anchors, truth_m)
    right = known & ~wrong
    row = {"K": float(len(anchors)), "wrong": float(wrong.sum() / max(known.sum(), 1))}
    plain = Anchors(anchors.uv_px, anchors.z_m)
    for name, calibrator in calibrators.items():
        result = calibrator(image, plain if name.startswith("no noise") else anchors)
        row[name] = abs_rel(frame.row["set"], result.depth_m, truth_m)
        if name == "default":
            row["right kept"] = _share(result.anchors.keep, right)
            row["wrong kept"] = _share(result.anchors.keep, wrong)
    return row


def _share(of: BoolArray, among: BoolArray) -> float:
    return float(of[among].mean()) if among.any() else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--set", default="tum")
    parser.add_argument("--scene", default="fr1_xyz", help="part of the scene's name")
    parser.add_argument("--camera", default="", metavar="FX,FY,CX,CY", help="of the images; empty: COLMAP finds it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None, help="frames in the model")
    parser.add_argument("--scored", type=int, default=None, help="images of it that are scored")
    parser.add_argument("--model", type=Path, default=None, help="a model of these frames, in place of building one")
    parser.add_argument("--out", type=Path, default=results_folder("sfm"))
    arguments = parser.parse_args()

    listed = [f for f in read_manifest(arguments.data, arguments.set) if arguments.scene in f.row.get("scene", "")]
    frames = {file_name(frame): frame for frame in listed[: arguments.limit]}
    with TemporaryDirectory() as folder:
        model = read_model(
            arguments.model or build_model(list(frames.values()), Path(folder), arguments.camera, arguments.seed)
        )
    scale = model_scale(model, frames)
    calibrators = {name: Calibrator(**stages) for name, stages in _METHODS.items()}
    rows: dict[str, dict[str, float]] = {}
    names = sorted(image.name for image in model.images.values())[: arguments.scored]
    for name in track(names, description=arguments.scene):
        rows[name] = row_of(frames[name], from_colmap(model, name, metres_per_unit=scale), calibrators)
    columns = list(next(iter(rows.values())))
    mean = {column: float(np.nanmean([row[column] for row in rows.values()])) for column in columns}
    table = Table("image", *columns, title=f"AbsRel, {len(model.images)} of {len(frames)} images registered")
    for name, row in {**rows, "mean": mean}.items():
        table.add_row(name, *(f"{value:.0f}" if column == "K" else f"{value:.4f}" for column, value in row.items()))
    Console().print(table)
    methods = {name: summary([row[name] for row in rows.values()]) for name in _METHODS}
    images = {n: {c: round(v, 5) if np.isfinite(v) else None for c, v in row.items()} for n, row in rows.items()}
    write_results(
        arguments.out / f"{arguments.set}-{arguments.scene}.json",
        seed=arguments.seed,
        metres_per_unit=scale,
        num_points=len(model.points),
        mean={column: round(value, 5) for column, value in mean.items() if np.isfinite(value)},
        methods=methods,
        images=images,
    )


if __name__ == "__main__":
    main()
