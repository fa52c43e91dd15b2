"""What the scale-map learner is trained on: VI-Depth's own inputs, made by the code that makes them in use.

The scale map needs a triangulation, which has no place on a GPU. So the inputs of several draws of readings per frame
are made before the training, on all cores, and stay in memory: see `draw_pool` for what that costs.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.runtime.parallel import num_cores
from mrac.vi_depth.alignment import align, readings_on_pixels
from mrac.vi_depth.predictors import Standardisation
from mrac.vi_depth.ranges import Ranges
from mrac.vi_depth.resize import learner_shape, resize_cubic
from mrac.vi_depth.scale_map import scale_map


def learner_inputs(
    relative_inv: FloatArray, uv_px: FloatArray, z_m: FloatArray, ranges: Ranges
) -> tuple[FloatArray, FloatArray] | None:
    """The two maps that the learner sees of one frame, to the last bit as the head `sml` makes them in use.

    Args:
        relative_inv: (H, W) relative inverse depth, finite.
        uv_px: (K, 2) readings' positions inside the image.
        z_m: (K,) metres.
        ranges: which readings count, and the limits of the alignment.

    Returns:
        The aligned inverse depth in 1/m and the scale map in [0, 1] but for cubic overshoot, both (h, w) float32 of
        the size `learner_shape` gives, not standardised. None where VI-Depth has nothing to refine.
    """
    readings = readings_on_pixels(uv_px, z_m, (relative_inv.shape[0], relative_inv.shape[1]), ranges)
    alignment = align(relative_inv, readings, ranges)
    scales = scale_map(alignment.inv_z_per_m, readings)
    if alignment.status != "ok" or scales.unit is None:
        return None
    shape = learner_shape((relative_inv.shape[0], relative_inv.shape[1]))
    return resize_cubic(alignment.inv_z_per_m, shape), resize_cubic(scales.unit, shape)


@dataclass(frozen=True, eq=False)
class LearnerPool:
    """D draws of readings for each of N frames of one size.

    Attributes:
        aligned_per_m: (N, D, h, w) float32, see `learner_inputs`.
        unit_scale: (N, D, h, w) float32, likewise.
        truth_per_m: (N, h, w) float32 true inverse depth, 0 where it is not known.
    """

    aligned_per_m: FloatArray
    unit_scale: FloatArray
    truth_per_m: FloatArray


@dataclass(frozen=True, kw_only=True)
class DrawOptions:
    """How readings are drawn.

    Attributes:
        num_draws: per frame.
        num_readings: per draw, uniformly from the pixels whose truth is in range; all of them where there are fewer.
        seed: of everything drawn; a draw depends on it, its frame's number and its own number alone.
    """

    num_draws: int = 8
    num_readings: int = 150
    seed: int = 0


def draw_pool(
    relative_inv: Sequence[FloatArray], z_m: Sequence[FloatArray], ranges: Ranges, options: DrawOptions
) -> LearnerPool:
    """Draws readings and makes the learner's inputs of them, on all cores.

    One draw at 480 × 640 with 150 readings takes 9 ms of one core, so that eight of 875 frames take 63 s of it, and
    hold 6 GB.

    Args:
        relative_inv: N fields (H, W) of relative inverse depth, all of one size, finite.
        z_m: N maps (H, W) of true depth in metres; anything that is not finite and > 0 is not known.
        ranges: of the learner that is trained; truth outside its readings' range is drawn from nowhere.
        options: how many.

    Raises:
        ContractError: there is no frame, sizes differ, or readings of a frame leave nothing to refine.
    """
    sizes = {maps.shape for maps in (*relative_inv, *z_m)}
    if len(sizes) != 1 or len(relative_inv) != len(z_m):
        raise ContractError(
            f"learner_inputs: {len(relative_inv)} fields and {len(z_m)} depth maps of sizes {sorted(sizes)} arrived; "
            "as many of the one as of the other, all of one size, are needed"
        )
    (size,) = sizes
    shape = learner_shape((size[0], size[1]))
    inputs = np.empty((2, len(z_m), options.num_draws, *shape), np.float32)

    def work(frame: int) -> None:
        for draw in range(options.num_draws):
            uv_px, reading_m = _draw(z_m[frame], ranges, options, frame, draw)
            made = learner_inputs(relative_inv[frame], uv_px, reading_m, ranges)
            if made is None:
                raise ContractError(
                    f"learner_inputs: {len(reading_m)} readings of frame {frame} leave nothing to refine; leave it out"
                )
            inputs[:, frame, draw] = made

    with ThreadPoolExecutor(num_cores()) as pool:
        for _ in pool.map(work, range(len(z_m))):
            pass
    return LearnerPool(inputs[0], inputs[1], np.stack([truth_per_m(each, shape) for each in z_m]))


def _draw(
    z_m: FloatArray, ranges: Ranges, options: DrawOptions, frame: int, draw: int
) -> tuple[FloatArray, FloatArray]:
    v, u = np.nonzero((z_m > ranges.min_depth_m) & (z_m < ranges.max_depth_m))
    rng = np.random.default_rng((options.seed, frame, draw))
    chosen = rng.choice(u.size, min(options.num_readings, u.size), replace=False)
    return np.stack([u[chosen], v[chosen]], axis=1).astype(np.float64), z_m[v[chosen], u[chosen]]


def truth_per_m(z_m: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """True inverse depth at `shape` (h, w), float32, 0 where unknown, from (H, W) metres.

    Each cell takes the pixel nearest to its middle: a mean would put surfaces between two others along every edge.
    """
    rows, columns = (
        np.minimum(((np.arange(n) + 0.5) * size / n).astype(np.intp), size - 1)
        for n, size in zip(shape, z_m.shape, strict=True)
    )
    z = z_m[np.ix_(rows, columns)]
    known = np.isfinite(z) & (z > 0)
    return np.where(known, 1.0 / np.where(known, z, 1.0), 0.0).astype(np.float32)


def standardisation_of(pools: Iterable[LearnerPool]) -> Standardisation:
    """Mean and deviation of both maps over all pixels of all pools, each pool counting alike.

    Alike, and not by its frames: the statistics are the one place where a street must fit beside a room. VI-Depth's
    single line for all inputs is kept, since that is the method; but a street's inverse depth then lies within a few
    tenths of a unit. Single and half precision tell that apart, bfloat16, with 128 steps a unit, hardly.
    """
    maps = [(pool.aligned_per_m, pool.unit_scale) for pool in pools]
    if not maps:
        raise ContractError("learner_inputs: statistics of no pool were asked for; at least one is needed")
    mean = [float(np.mean([np.mean(both[i], dtype=np.float64) for both in maps])) for i in (0, 1)]
    square = [np.mean([np.mean(np.square(both[i] - mean[i]), dtype=np.float64) for both in maps]) for i in (0, 1)]
    inv_z_std, scale_std = (float(np.sqrt(each)) for each in square)
    return Standardisation(mean[0], inv_z_std, mean[1], scale_std)
