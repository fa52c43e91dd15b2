"""
How many readings are enough?
=============================

The same photograph with 0, 1, 5, 20 and 200 readings, a quarter of them wrong from five on. The map and its stated
uncertainty, side by side. Photograph: *Motorcycle*, Middlebury 2014, in scikit-image.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mrac import Anchors, Calibrator
from mrac.demo import motorcycle

calibrate = Calibrator()
counts = (0, 1, 5, 20, 200)
figure, axes = plt.subplots(2, len(counts), figsize=(11, 3.4), layout="constrained")
for (above, below), count in zip(axes.T, counts, strict=True):
    scene = motorcycle(max(count, 1), wrong_fraction=0.25 if count > 4 else 0.0)
    readings = Anchors(scene.anchors.uv_px[:count], scene.anchors.z_m[:count])
    out = calibrate(scene.image, readings)
    error = np.nanmean(np.abs(out.depth_m / scene.truth_m - 1))
    print(f"{count:4d} readings: status {out.status}, mean error {error:.1%}", end=", ")
    print(f"stated sigma {np.mean(out.sigma_m / out.depth_m):.1%} of depth")
    depth = above.imshow(out.depth_m, vmin=1.5, vmax=6, cmap="viridis_r")
    above.set_title(f"{count} readings")
    sigma = below.imshow(out.sigma_m / out.depth_m, vmin=0, vmax=0.4, cmap="magma")
    for ax in (above, below):
        ax.set_axis_off()
figure.colorbar(depth, ax=axes[0], label="depth, m")
figure.colorbar(sigma, ax=axes[1], label="sigma / depth")
plt.show()

# %%
# Without a reading there is no scale: the status says ``no_anchors``, and sigma is as large as the depth itself.
