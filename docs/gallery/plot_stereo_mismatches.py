"""
Readings from a stereo pair, mismatches included
================================================

The two photographs of *Motorcycle* (Middlebury 2014, in scikit-image) are matched at a few hundred corners with the
simplest matcher there is: the window with the least squared difference along the row. Spokes, chrome and bare walls
match wrongly. Those readings are real outliers, not drawn ones.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from skimage.data import stereo_motorcycle
from skimage.feature import corner_peaks, corner_shi_tomasi

from mrac import Anchors, Calibrator
from mrac.demo import motorcycle

left, right, _ = stereo_motorcycle()
truth_m = motorcycle().truth_m
FOCAL_PX, BASELINE_M, OFFSET_PX = 994.978, 0.193001, 31.086  # Middlebury's calibration
grey_left, grey_right = (view.astype(np.float32).mean(axis=2) for view in (left, right))
corners = corner_peaks(
    corner_shi_tomasi(grey_left), min_distance=12, exclude_border=12, num_peaks=400
)


def disparity(v: int, u: int, half: int = 4, most: int = 70) -> int:
    """Pixels to the left at which the right photograph has the most similar window."""
    window = grey_left[v - half : v + half + 1, u - half : u + half + 1]
    row = grey_right[v - half : v + half + 1]
    places = range(max(half, u - most), u + 1)
    costs = [((row[:, at - half : at + half + 1] - window) ** 2).sum() for at in places]
    return u - places[int(np.argmin(costs))]


matched = np.array([disparity(v, u) for v, u in corners])
anchors = Anchors(corners[:, ::-1], FOCAL_PX * BASELINE_M / (matched + OFFSET_PX))

# %%
# Which readings are wrong is known here, because the data set has the true depth: those more than 10 % off.

true_m = truth_m[corners[:, 0], corners[:, 1]]
wrong = np.abs(anchors.z_m / true_m - 1) > 0.1
known = np.isfinite(true_m)
out = Calibrator()(left, anchors)
rejected = ~out.anchors.keep
print(f"{len(anchors)} readings, {wrong.sum()} of them wrong; rejected:", end=" ")
print(
    f"{(rejected & wrong).sum()} wrong ones, {(rejected & known & ~wrong).sum()} right ones"
)

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
axes[0].imshow(left)
cross, ring = {"marker": "x", "s": 30}, {"marker": "o", "facecolors": "none", "s": 60}
for chosen, style, label in (
    (~rejected, {"marker": "o", "s": 8, "c": "white"}, "kept"),
    (rejected & wrong, cross | {"c": "red"}, "rejected, wrong"),
    (rejected & ~wrong, cross | {"c": "orange"}, "rejected, right or unknown"),
    (~rejected & wrong, ring | {"edgecolors": "magenta"}, "kept, wrong"),
):
    axes[0].scatter(*anchors.uv_px[chosen].T, label=f"{label}: {chosen.sum()}", **style)
axes[0].legend(loc="upper left", fontsize="small")
shown = axes[1].imshow(out.depth_m, cmap="viridis_r")
for ax in axes:
    ax.set_axis_off()
figure.colorbar(shown, ax=axes[1], label="depth, m", shrink=0.8)
plt.show()

# %%
# The depth that results, beside the same method without a gate:

for name, gate in {
    "no gate": "none",
    "paper's gate": "theil_sen_mad",
    "default": None,
}.items():
    depth_m = Calibrator(gate=gate)(left, anchors).depth_m
    print(f"{name:17s} mean error {np.nanmean(np.abs(depth_m / truth_m - 1)):.1%} of depth")
