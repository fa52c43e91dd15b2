"""The readings as points of the Gaussian process: their features, with and without image and relative depth."""

from mrac.conventions import FloatArray
from mrac.gp.features import ImageAppearance, LengthScales, PixelFeatures, features_without_image
from mrac.gp.kernel import RELATIVE
from mrac.relative import PIXELS_BEYOND, quantile_range
from mrac.types import Samples


def image_features(samples: Samples, image: ImageAppearance | None, relative: FloatArray | None) -> FloatArray | None:
    """(K, NUM_FEATURES) float32 of the samples in the image; None without an image or without samples."""
    if image is None or not len(samples):
        return None
    return PixelFeatures(image, relative, LengthScales(), samples.x_range).at(samples.uv_px, samples.x)


def bare_features(features: FloatArray) -> FloatArray:
    """(K, NUM_FEATURES) features as they are where there is no relative depth."""
    features = features.copy()
    features[:, RELATIVE] = 0.0
    return features


def features_alone(samples: Samples) -> FloatArray:
    """(K, NUM_FEATURES) from position and relative depth, where the gate is called without the image."""
    low, high = (0.0, 0.0) if samples.x is None else quantile_range(samples.x)
    # The shorter side of a 4:3 image is 0.85 of the side that `features_without_image` estimates.
    lengths = LengthScales(position=0.85 * LengthScales().position)
    x_range = (low, low + PIXELS_BEYOND * (high - low))
    return features_without_image(samples.uv_px, samples.x, x_range, lengths)
