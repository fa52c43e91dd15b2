"""The recipes of the embedded foundation: a first round from ImageNet, a second, and further ones."""

from dataclasses import dataclass, field, replace

import numpy as np

from mrac.gpu.network import NetworkOptions
from mrac.lab.train.foundation.views import ViewOptions


@dataclass(frozen=True)
class Phase:
    """A part of the run.

    Attributes:
        num_steps: of the optimiser.
        batch: images a step.
        shapes: (H, W) of the input, one of them a step, and how often each.
    """

    num_steps: int
    batch: int
    shapes: tuple[tuple[tuple[int, int], float], ...]


@dataclass(frozen=True)
class Weights:
    """Of the losses; see `losses`."""

    shift: float = 1.0
    affine: float = 0.5
    local: float = 0.0
    gradient: float = 0.5
    metric: float = 0.1
    sky: float = 0.3
    bound: float = 0.3


@dataclass(frozen=True)
class FoundationOptions:
    """Everything that decides the result.

    Attributes:
        phases: one after the other; the learning rate knows only their sum. Two thirds of the size come first, at less
            than half the arithmetic an image.
        shares: of a batch, per set; sets of other names come in proportion to their frames.
        num_scenes: rendered before the first step, as the set `scenes`.
        encoder_rate, decoder_rate: peak learning rates of AdamW.
        weight_decay: of AdamW.
        warmup: steps until the peak; then a cosine to zero.
        average: of the weights, exponential, per step.
        colour, hide, paste: strength of `vary_colours`, shares of `hide_patches` and `paste_foregrounds`.
        frame_pixels: images of the pack are shrunk to this.
        start_share: of the start's weights in the network that is written; the rest is what was learned. What no frame
            of the data bounds, such as trees above a street, runs away in a long run, and the mean of both does not.
        starts_from: hash of the weights that a later round starts from, so that a killed one does not mix two.
        seed: of everything drawn.
    """

    phases: tuple[Phase, ...] = (
        Phase(4_900, 96, (((192, 256), 0.75), ((128, 416), 0.25))),
        Phase(5_200, 64, (((288, 384), 0.75), ((192, 640), 0.25))),
    )
    shares: dict[str, float] = field(
        default_factory=lambda: {
            "nyu": 0.50,
            "kitti15": 0.11,
            "kitti_seq": 0.03,
            "camvid": 0.03,
            "hololens": 0.05,
            "mosd": 0.05,
            "redkitchen": 0.03,
            "scenes": 0.20,
        }
    )
    num_scenes: int = 4_000
    encoder_rate: float = 5e-4
    decoder_rate: float = 1e-3
    weight_decay: float = 0.05
    warmup: int = 500
    average: float = 0.999
    weights: Weights = field(default_factory=Weights)
    colour: float = 1.0
    hide: float = 0.3
    paste: float = 0.2
    views: ViewOptions = field(default_factory=ViewOptions)
    network: NetworkOptions = field(default_factory=NetworkOptions)
    frame_pixels: int = 420 * 560
    start_share: float = 0.0
    starts_from: str = ""
    seed: int = 0

    @property
    def num_steps(self) -> int:
        """Of all phases."""
        return sum(phase.num_steps for phase in self.phases)

    def phase(self, step: int) -> Phase:
        """The one that `step` lies in."""
        ends = np.cumsum([phase.num_steps for phase in self.phases])
        return self.phases[min(int(np.searchsorted(ends, step, side="right")), len(ends) - 1)]


def second_round(options: FoundationOptions) -> FoundationOptions:
    """The recipe for a run that goes on from a trained network: mostly full size, gentler, views nearer to use."""
    small, large = (phase.shapes for phase in options.phases)
    return replace(
        options,
        phases=(Phase(3_500, 96, small), Phase(11_000, 64, large)),
        shares=options.shares
        | {"nyu": 0.55, "kitti15": 0.10, "camvid": 0.05, "hololens": 0.04, "mosd": 0.05, "redkitchen": 0.02}
        | {"scenes": 0.16},
        encoder_rate=3.5e-4,
        decoder_rate=7e-4,
        weights=replace(options.weights, sky=0.5),
        views=replace(options.views, plain=0.4),
    )


def further_round(options: FoundationOptions) -> FoundationOptions:
    """The recipe for a run that goes on from a network as it ships: full size, for what is left after kriging."""
    return replace(
        options,
        phases=(Phase(12_500, 64, options.phases[-1].shapes),),
        shares=options.shares | {"camvid": 0.05, "scenes": 0.18},
        encoder_rate=3e-4,
        decoder_rate=6e-4,
        weights=replace(options.weights, shift=0.5, affine=0.25, local=0.75, sky=0.5),
        views=replace(options.views, plain=0.4),
        start_share=0.5,
    )
