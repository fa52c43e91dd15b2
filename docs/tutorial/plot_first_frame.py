"""
From a photograph and 50 readings to metric depth
=================================================

You have one photograph and a few range readings of the same scene. Some readings are wrong, and you do not know which.
This page goes through one call: what goes in, what comes out, how to tell good from bad, and how to change a stage.
It takes ten minutes. Every picture and number below was made by the code above it.

You need ``pip install ".[demo,view]"``: the extra ``demo`` has the photograph, ``view`` has matplotlib.
"""

# %%
# The input
# ---------
# The photograph is *Motorcycle* of Middlebury 2014, as scikit-image ships it. Its depth was measured with structured
# light. ``motorcycle()`` takes 50 pixels of that measurement as readings, and makes 12 of them too near, by a factor
# from 0.2 to 0.6: the model of multipath and specular returns in the paper that this package implements.

import matplotlib.pyplot as plt
import numpy as np

from mrac import Anchors, Calibrator
from mrac.demo import motorcycle

scene = motorcycle()
image, anchors = scene.image, scene.anchors
print("image:", image.shape, image.dtype)
print(
    "readings:",
    anchors.uv_px.shape,
    "pixels (u right, v down) and",
    anchors.z_m.shape,
    "metres",
)
print("wrong, which the method is not told:", scene.wrong.sum())

# %%
# With files of your own the first lines are ``image = mrac.read_image("photo.jpg")`` and
# ``anchors = mrac.read_anchors("readings.csv")``. For LiDAR, depth cameras and others see
# :doc:`the page on sensors </sensors>`.
#
# One call
# --------
# ``Calibrator()`` is the default method. Calling it gives everything at once.

calibrate = Calibrator()
out = calibrate(image, anchors)
out.plot(image=image, anchors=anchors)
plt.show()

# %%
# Left: the photograph with the readings. A ring is a kept reading, a cross a rejected one. Middle: depth. Right: its
# standard deviation. The line above the pictures is what ``print(out)`` shows.
#
# The verdicts
# ------------
# Every reading gets a verdict, in the order in which the readings came. ``keep`` is yes or no;
# ``outlier_probability`` is how likely the reading is wrong; ``reason`` is one word.

verdict = out.anchors
for i in np.flatnonzero(~verdict.keep)[:5]:
    u, v = anchors.uv_px[i].astype(int)
    print(
        f"({u}, {v}) reads {anchors.z_m[i]:.2f} m, the map has {out.depth_m[v, u]:.2f} m",
        end="; ",
    )
    print(f"{verdict.reason[i]}, outlier probability {verdict.outlier_probability[i]:.2f}")

rejected = ~verdict.keep
print(
    f"rejected: {(rejected & scene.wrong).sum()} of {scene.wrong.sum()} wrong readings",
    end=", ",
)
print(f"{(rejected & ~scene.wrong).sum()} of {(~scene.wrong).sum()} right ones")

# %%
# The gate gives these verdicts; it is not perfect. A wrong reading that agrees with what lies around it can pass, so
# fit and head use a *weight* between 0 and 1 rather than the verdict alone. :doc:`How the gate works </consensus>`.
#
# How good is the depth?
# ----------------------
# Here the true depth is known, so the error can be drawn. You will not have this picture of your own frames. What you
# have is ``sigma_m``: one standard deviation, in metres, at every pixel.


def error_of(depth_m):
    """(H, W) share of the true depth, NaN where that was not measured."""
    return np.abs(depth_m / scene.truth_m - 1)


error = error_of(out.depth_m)
stated = out.sigma_m / out.depth_m
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for ax, values, title in ((axes[0], error, "error"), (axes[1], stated, "stated sigma")):
    shown = ax.imshow(values, vmin=0, vmax=0.3, cmap="magma")
    ax.set_title(title)
    ax.set_axis_off()
figure.colorbar(shown, ax=axes, label="share of depth", shrink=0.8)
plt.show()

low_m, high_m = out.interval(0.9)
inside = (scene.truth_m > low_m) & (scene.truth_m < high_m)
measured = np.isfinite(scene.truth_m)
print(f"mean error {np.nanmean(error):.1%} of depth")
print(f"the 90 % interval holds {inside[measured].mean():.0%} of the pixels")

# %%
# "Is something nearer than 2.5 m?"
# ---------------------------------
# A robot does not ask for a depth. It asks whether something is in the way. ``probability_nearer`` answers that from
# depth and sigma together, so an uncertain pixel is neither near nor far.

nearer = out.probability_nearer(2.5)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.imshow(image)
shown = ax.imshow(nearer, vmin=0, vmax=1, cmap="Reds", alpha=0.7 * nearer)
ax.set_axis_off()
figure.colorbar(shown, label="probability of being nearer than 2.5 m", shrink=0.8)
plt.show()

# %%
# What a gate is for
# ------------------
# The same readings without a gate: twelve wrong readings pull the whole map towards the camera.

for name, method in {
    "no gate": Calibrator(gate="none"),
    "the paper's method": Calibrator("mrac"),
    "default": calibrate,
}.items():
    error = error_of(method(image, anchors).depth_m)
    print(f"{name:20s} mean error {np.nanmean(error):.1%} of depth")

# %%
# A sensor that is wrong as a whole
# ---------------------------------
# A gate finds readings that contradict the others. It cannot find a mistake that all readings share. Some of these are
# usual enough to be looked for: the result then has ``warnings``. These do not change the depth; you decide.

in_millimetres = Anchors(anchors.uv_px, 1000 * anchors.z_m)
for finding in calibrate(image, in_millimetres).warnings:
    print(finding.name, finding.message, finding.advice, sep="\n")

# %%
# The repair, where you agree with the warning:

repaired = calibrate.fixed(image, in_millimetres, ["units"])
print("first readings:", np.round(repaired.z_m[:4], 2), "m")

# %%
# Not every such mistake is noticed; the end of :doc:`the page on sensors </sensors>` says which are, and how often.
# Always look at ``status`` too: it is ``ok``, or one word for what made the frame hard. An example, with one reading:

print(calibrate(image, Anchors(anchors.uv_px[:1], anchors.z_m[:1])).status)

# %%
# Without a network
# -----------------
# The default runs a small network of this package to see what is near and what is far. Where that takes too long, leave
# it out. Readings and colours alone then give the depth; between the readings it is less sharp. For a product use
# ``Calibrator("open", foundation="none")``, since the default's gate has weights too: :doc:`Licences </licences>`.

bare = Calibrator(foundation="none")(image, anchors)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for ax, result, title in ((axes[0], out, "default"), (axes[1], bare, "no network")):
    shown = ax.imshow(result.depth_m, vmin=2.0, vmax=5.5, cmap="viridis_r")
    ax.set_title(f"{title}: mean error {np.nanmean(error_of(result.depth_m)):.1%}")
    ax.set_axis_off()
figure.colorbar(shown, ax=axes, label="depth, m", shrink=0.8)
plt.show()

# %%
# A gate of your own
# ------------------
# Each stage can be replaced: by a name (``gate="ransac"``), by a name with options
# (``gate="theil_sen_mad:kappa=3"``), or by your own code. A gate can be a plain function of the samples: it returns
# which readings to keep. ``samples.x`` is the relative depth at each reading and ``samples.z_m`` its metres. This one
# compares the logarithm of depth with its median and drops what is far from it.


def near_the_median(samples):
    """Keeps readings within a factor of two of the median depth."""
    return np.abs(np.log(samples.z_m / np.median(samples.z_m))) < np.log(2)


mine = Calibrator(gate=near_the_median)(image, anchors)
print(f"kept {mine.anchors.keep.sum()} of {len(anchors)}", end="; ")
print(f"mean error {np.nanmean(error_of(mine.depth_m)):.1%} of depth")

# %%
# A gate with options, that can be named on the command line, is one file: see
# :doc:`Contributing </generated/repository/contributing>`.
#
# Keep the result
# ---------------
# The ending says what is written: ``.npz``, 16-bit ``.png``, ``.exr``, ``.tif``, ``.ply``, or a folder with all that
# ``mrac calibrate`` writes.

import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    out.save(Path(folder) / "result", image=image, anchors=anchors)
    print(sorted(path.name for path in (Path(folder) / "result").iterdir()))

# %%
# Next: :doc:`your own sensor </sensors>`, :doc:`many frames </frames>`, :doc:`all options </reference>`, or
# :doc:`more examples </generated/gallery/index>`.
