"""What stands before the scene of one picture pasted before that of another, in the right order of depth."""

from dataclasses import replace

import torch
from torch import Tensor

from mrac.lab.train.foundation.views import Views

_MEASURED = 0.6  # of a view must have depth, or what is pasted would be dots
_DEPTH = (0.1, 0.45)  # of a view's range of log depth, from its near end, that is its foreground


def paste_foregrounds(views: Views, generator: torch.Generator, share: float) -> Views:
    """Pastes the nearest surfaces of another view of the batch into a `share` of the views, where they are nearer.

    Depth is compared over focal length, which is what a picture shows of it: what is pasted then has the size that it
    would have there. Some hundred rooms become as many backgrounds for the furniture of all others.

    Args:
        views: B of them.
        generator: on their device.
        share: of the views that get something pasted.

    Returns:
        Views of the same shape.
    """
    B, device = len(views.image), views.image.device

    def uniform(low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(B, 1, 1, generator=generator, device=device)

    order = torch.randperm(B, generator=generator, device=device)
    seen_BHW = views.z_m / views.focal[:, None, None]
    other_BHW = seen_BHW[order]
    known = (other_BHW > 0) & other_BHW.isfinite()
    log = torch.where(known, other_BHW, 1.0).log()
    nearest = torch.where(known, log, torch.inf).amin(dim=(1, 2), keepdim=True)
    farthest = torch.where(known, log, -torch.inf).amax(dim=(1, 2), keepdim=True)
    front = known & (log < nearest + (farthest - nearest) * uniform(*_DEPTH))
    dense = known.float().mean(dim=(1, 2), keepdim=True) > _MEASURED
    pasted = front & dense & (uniform(0.0, 1.0) < share) & ((other_BHW < seen_BHW) | (seen_BHW <= 0))
    image = torch.where(pasted[:, None], views.image[order], views.image)
    return replace(views, image=image, z_m=torch.where(pasted, other_BHW * views.focal[:, None, None], views.z_m))
