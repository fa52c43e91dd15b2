"""
A room and a street that ship with the package
==============================================

Two frames were rendered for this project and come with it, so that there is always something to try. Their depth is
known at every pixel. Each has readings with another fault: multipath in the room, spurious returns in the street.
The network of this package was trained on other pictures of the same renderer, among its data: the figures below show
how things are used, not how good they are.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mrac import Calibrator
from mrac.examples import load

calibrate = Calibrator()
figure, axes = plt.subplots(2, 3, figsize=(11, 5.6), layout="constrained")
for row, name in zip(axes, ("room", "street"), strict=True):
    frame = load(name)
    out = calibrate(frame.image, frame.anchors)
    keep, wrong = out.anchors.keep, frame.wrong
    error = np.abs(out.depth_m / frame.depth_m - 1)
    print(f"{frame.title}. Fault of {wrong.sum()} of {len(wrong)} readings: {frame.fault}.")
    print(
        f"  rejected: {(~keep & wrong).sum()} wrong ones, {(~keep & ~wrong).sum()} right ones",
        end="; ",
    )
    print(f"mean error {np.nanmean(error):.1%} of depth, median {np.nanmedian(error):.1%}")
    row[0].imshow(frame.image)
    row[0].scatter(*frame.anchors.uv_px[keep].T, s=10, c="white")
    row[0].scatter(*frame.anchors.uv_px[~keep].T, s=30, c="red", marker="x")
    depth = row[1].imshow(out.depth_m, norm="log", cmap="viridis_r")
    figure.colorbar(depth, ax=row[1], label="depth, m", shrink=0.8)
    shown = row[2].imshow(error, vmin=0, vmax=0.3, cmap="magma")
    figure.colorbar(shown, ax=row[2], label="error, share of depth", shrink=0.8)
    for ax in row:
        ax.set_axis_off()
plt.show()

# %%
# In the third column white is sky, which has no depth. ``load("motorcycle")`` is the photograph of the other pages, in
# the same form.
