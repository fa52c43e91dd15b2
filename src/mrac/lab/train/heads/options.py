"""Everything that decides what a training of a learned head gives."""

from dataclasses import dataclass, field
from typing import Literal

from mrac.head._rendering import NUM_PIXELS, Form
from mrac.space import Space

Kind = Literal["residual", "raw", "sml"]
"""`residual` is the paper's R_θ on the closed form, `raw` the same network without one, `sml` VI-Depth's learner."""

Precision = Literal["no", "fp16", "bf16"]


@dataclass(frozen=True, kw_only=True)
class LossWeights:
    """Of `heads.losses`; a loss of weight 0 is not computed. The defaults are the paper's recommended ones."""

    silog: float = 1.0
    cwa: float = 1.0
    ssc: float = 0.5
    fmp: float = 0.2
    res: float = 0.0


@dataclass(frozen=True, kw_only=True)
class HeadOptions:
    """A recipe; the defaults are the paper's.

    Attributes:
        recipe: its name.
        kind: of head.
        form: of the anchor channel and the correction.
        space: that lines are fitted in.
        relative_space: of the relative depth that the head is given; None takes `space`. The paper fits lines in depth
            to the inverse depth of its foundation.
        num_pixels: of the network's input; larger frames are shrunk.
        weights: of the losses.
        budgets: numbers of anchors, one of them drawn a minibatch.
        dropout_rate_max: see `heads.batch.Draw`.
        limits_m: depth is clipped to this in the losses: what the range sensors of the sets can measure.
        num_epochs: over all frames.
        batch: images a step, over all GPUs together.
        rate: peak learning rate of AdamW.
        warmup_epochs: until the peak; then a cosine to zero.
        weight_decay: of AdamW; the paper is silent, this is torch's.
        clip: largest norm of the gradient; the paper is silent.
        precision: of the network's arithmetic.
        seed: of everything drawn.
    """

    recipe: str = "vanilla"
    kind: Kind = "residual"
    form: Form = "metres"
    space: Space = "depth"
    relative_space: Space | None = None
    num_pixels: int = NUM_PIXELS
    weights: LossWeights = field(default_factory=LossWeights)
    budgets: tuple[int, ...] = (5, 10, 25, 50)
    dropout_rate_max: float = 0.0
    limits_m: tuple[float, float] = (0.3, 100.0)
    num_epochs: int = 80
    batch: int = 12
    rate: float = 1e-3
    warmup_epochs: float = 2.0
    weight_decay: float = 0.01
    clip: float = 1.0
    precision: Precision = "no"
    seed: int = 0
