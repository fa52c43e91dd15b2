"""
An 8 × 8 time-of-flight sensor
==============================

A multizone sensor such as the VL53L5CX reports 64 distances, each the mean of an area. ``Anchors.from_zones`` keeps the
area, so that a zone across an edge is not taken for a point. The frame is made from the measured depth of *Motorcycle*
(Middlebury 2014, in scikit-image): each zone is the mean of what it sees, and four zones suffer from multipath.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from mrac import Anchors, Calibrator
from mrac.demo import motorcycle

scene = motorcycle()
height, width = scene.truth_m.shape
rows, columns = (np.linspace(0, n, 9).astype(int) for n in (height, width))
zones_mm = np.empty((8, 8))
for i, j in np.ndindex(8, 8):
    seen_m = scene.truth_m[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
    zones_mm[i, j] = 1000 * np.nanmean(seen_m)
multipath = [(1, 2), (3, 6), (4, 1), (6, 4)]
for i, j in multipath:
    zones_mm[i, j] *= 0.4

anchors = Anchors.from_zones(zones_mm, scale="mm", image_size=(width, height))
out = Calibrator()(scene.image, anchors)
print(out)

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
axes[0].imshow(scene.image)
for i, keep in enumerate(out.anchors.keep):
    (u, v), (wide, high) = anchors.uv_px[i], anchors.extent_px[i]
    colour, line = ("white", 0.8) if keep else ("red", 2.0)
    axes[0].add_patch(
        Rectangle(
            (u - wide / 2, v - high / 2), wide, high, fill=False, edgecolor=colour, lw=line
        )
    )
    axes[0].text(
        u,
        v,
        f"{anchors.z_m[i]:.1f}",
        color=colour,
        ha="center",
        va="center",
        fontsize="small",
    )
axes[0].set_title("readings in metres; red: rejected")
shown = axes[1].imshow(out.depth_m, cmap="viridis_r")
for ax in axes:
    ax.set_axis_off()
figure.colorbar(shown, ax=axes[1], label="depth, m", shrink=0.8)
plt.show()

# %%
# The same numbers, taken for points at the centres of their zones:

points = Anchors(anchors.uv_px, anchors.z_m)
for name, readings in (("areas", anchors), ("points", points)):
    depth_m = Calibrator()(scene.image, readings).depth_m
    print(
        f"{name:6s} mean error {np.nanmean(np.abs(depth_m / scene.truth_m - 1)):.1%} of depth"
    )
