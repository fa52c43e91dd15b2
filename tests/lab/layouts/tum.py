"""TUM RGB-D sequences: lists with comments and two clocks that never agree, uint16 / 5000."""

from pathlib import Path

from tests.lab.layouts import Written, made, save_image, save_png16

SEQUENCE = "rgbd_dataset_freiburg1_desk"
# The second image has no depth within 20 ms; of two depths for the third the nearer is its own.
IMAGES = (1305031452.791720, 1305031452.823674, 1305031452.859642)
DEPTHS = (1305031452.799022, 1305031452.850000, 1305031452.861000)
PAIRS = ((0, 0), (2, 2))


def write(folder: Path) -> dict[str, Written]:
    root = folder / SEQUENCE
    images, truths = [], []
    for seed, (image_time, depth_time) in enumerate(zip(IMAGES, DEPTHS, strict=True)):
        image, depth_m = made((30, 40), seed)
        images.append(save_image(root / "rgb" / f"{image_time:.6f}.png", image))
        truths.append(save_png16(root / "depth" / f"{depth_time:.6f}.png", depth_m, 5000.0))
    for kind, times in (("rgb", IMAGES), ("depth", DEPTHS)):
        lines = [f"{t:.6f} {kind}/{t:.6f}.png" for t in times]
        text = "\n".join(["# color images", "# file: 'rgbd.bag'", "# timestamp filename", *lines])
        (root / f"{kind}.txt").write_text(text + "\n")
    return {f"freiburg1_desk_{IMAGES[i]:.6f}": Written(images[i], truths[j]) for i, j in PAIRS}
