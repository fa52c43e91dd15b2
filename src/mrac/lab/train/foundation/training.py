"""The recipe of the embedded foundation: real views and rendered ones, losses on log depth, averaged weights."""

import copy
import math
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.lab.train.cuda_graph import GraphedStep
from mrac.lab.train.foundation.losses import (
    affine_invariant_l1,
    bound_l1,
    gradient_l1,
    log_target,
    metric_l1,
    shift_invariant_l1,
    sky_l1,
)
from mrac.lab.train.foundation.occlusion import paste_foregrounds
from mrac.lab.train.foundation.photometric import hide_patches, vary_colours
from mrac.lab.train.foundation.views import ViewOptions, Views, sample_views
from mrac.lab.train.frames import Frames

# The sky is at least so much farther than the farthest depth that is known in an image, and no more than the second is
# asked for. Measured against the network's own answer for the rest instead, which holds sky that nobody labelled, each
# pushes the other up without end; against a fixed 200 m, bright and leafy things of other streets became far too.
_SKY_MARGIN, _SKY_ENOUGH = math.log(1.3), math.log(150.0)
CANONICAL_FOCAL = 0.9  # focal length over width for which the output is in metres, as far as one picture can tell
_AVERAGE_EVERY = 5  # steps: in five the weights move little


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
        starts_from: hash of the weights that a second round starts from, so that a killed one does not mix two.
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


class FoundationTraining:
    """The state of a run: network, averaged network, optimiser, step.

    Every step draws from seeds of its own, so a run that was killed goes on as if nothing had happened.
    """

    def __init__(
        self,
        options: FoundationOptions,
        sets: list[Frames],
        published: dict[str, Tensor] | None,
        start: DepthNetwork | None = None,
    ) -> None:
        """Starts a run.

        Args:
            options: of the run.
            sets: to draw from, all on the device to train on.
            published: weights of the encoder on ImageNet; None starts from random ones.
            start: a network of an earlier run, to start from its weights.
        """
        self.options, self.sets = options, sets
        self.device = sets[0].images.device
        torch.manual_seed(options.seed)
        self.network = DepthNetwork(options.network)
        if published is not None:
            self.network.encoder.load_published(published)
        if start is not None:
            self.network.load_state_dict(start.state_dict())
        self.network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.averaged = copy.deepcopy(self.network).eval().requires_grad_(False)
        encoder = list(self.network.encoder.parameters())
        known = {id(parameter) for parameter in encoder}
        decoder = [parameter for parameter in self.network.parameters() if id(parameter) not in known]
        groups = [(encoder, options.encoder_rate), (decoder, options.decoder_rate)]
        self._on_gpu = self.device.type == "cuda"
        self.optimizer = torch.optim.AdamW(
            [{"params": parameters, "peak": peak} for parameters, peak in groups],
            lr=0.0,
            weight_decay=options.weight_decay,
            fused=self._on_gpu,
        )
        # fp16, not bf16: cuDNN has batch norms and per-channel filters for it that take a fifth off a step.
        self.scaler = torch.GradScaler(self.device.type, enabled=self._on_gpu)
        self._gradients = GraphedStep(self._backward, self.network)
        own, mean = self.network.state_dict(), self.averaged.state_dict()
        floats = [name for name, value in own.items() if value.dtype.is_floating_point]
        self._own, self._mean = [own[name] for name in floats], [mean[name] for name in floats]
        self._odds = [frame_odds(frames) for frames in sets]
        self.step = 0

    @property
    def _seed_of_step(self) -> int:
        return self.options.seed * 1_000_003 + self.step

    def _half(self) -> torch.autocast:
        # Without its cache, which would keep the recording's first copy of the weights for all steps to come.
        return torch.autocast(self.device.type, dtype=torch.float16, enabled=self._on_gpu, cache_enabled=False)

    def batch(self) -> Views:
        """The views of the current step."""
        options = self.options
        generator = torch.Generator(self.device).manual_seed(self._seed_of_step)
        choose = np.random.default_rng((options.seed, self.step))
        phase = options.phase(self.step)
        size = phase.shapes[choose.choice(len(phase.shapes), p=[share for _, share in phase.shapes])][0]
        share = np.array([options.shares.get(s.set_name, len(s) / sum(map(len, self.sets))) for s in self.sets])
        counts = choose.multinomial(phase.batch, share / share.sum())
        parts = [
            sample_views(frames, odds, int(num), size, options.views, generator)
            for frames, odds, num in zip(self.sets, self._odds, counts, strict=True)
            if num
        ]
        views = Views(*(torch.cat(same) for same in zip(*((p.image, p.z_m, p.focal) for p in parts), strict=True)))
        views = paste_foregrounds(views, generator, options.paste)
        image = hide_patches(vary_colours(views.image, generator, options.colour), generator, options.hide)
        return replace(views, image=image)

    def advance(self) -> Tensor:
        """One step; gives the loss, still on the device."""
        options = self.options
        torch.manual_seed(self._seed_of_step)  # of the residual branches that are dropped
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * rate_at(self.step, options.num_steps, options.warmup)
        views = self.batch()
        self.network.train()
        loss = self._gradients(views.image, views.z_m, views.focal)
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.step += 1
        if self.step % _AVERAGE_EVERY == 0 or self.step == options.num_steps:
            self._average()
        return loss

    def _backward(self, image: Tensor, z_m: Tensor, focal: Tensor) -> Tensor:
        """The loss of a batch, its gradients left in the network."""
        views = Views(image, z_m, focal)
        with self._half():
            predicted = self.network(image.contiguous(memory_format=torch.channels_last))
        loss = self.loss(upsample(predicted.float(), z_m.shape[1:]), views)
        self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        return loss

    def loss(self, predicted_BHW: Tensor, views: Views) -> Tensor:
        """The weighted sum of the losses, mean over the batch."""
        weights = self.options.weights
        target, known = log_target(views.z_m)
        # A narrower lens shows the same picture of a scene farther away: what can be told is z over focal length.
        canonical_B = torch.log(CANONICAL_FOCAL / views.focal)
        target = target + canonical_B[:, None, None]
        error = predicted_BHW - target
        far_B = torch.where(known > 0, target, -torch.inf).amax(dim=(1, 2)).clamp(max=_SKY_ENOUGH)
        total = (
            weights.shift * shift_invariant_l1(error, known)
            + weights.affine * affine_invariant_l1(predicted_BHW, target, known)
            + weights.gradient * gradient_l1(error, known)
            + weights.metric * metric_l1(error, known)
            + weights.sky * sky_l1(predicted_BHW, views.z_m, far_B + _SKY_MARGIN)
            + weights.bound * bound_l1(predicted_BHW, views.z_m, canonical_B)
        )
        return total.mean()

    @torch.no_grad()
    def _average(self) -> None:
        # The first steps must not be remembered as long as the last: the decay grows to its value.
        decay = min(self.options.average**_AVERAGE_EVERY, (1.0 + self.step) / (10.0 * _AVERAGE_EVERY + self.step))
        torch._foreach_lerp_(self._mean, self._own, 1.0 - decay)  # one by one it is five hundred small operations


def frame_odds(frames: Frames) -> Tensor:
    """(N,) how often each frame is drawn, on its device: ten frames of one scene count as √10 of different ones."""
    count = Counter(frames.scenes)
    return torch.tensor([count[scene] ** -0.5 for scene in frames.scenes], device=frames.images.device)


def rate_at(step: int, num_steps: int, warmup: int) -> float:
    """Share of the peak learning rate: linear warm-up, then a cosine to zero."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(num_steps - warmup, 1)
    return 0.5 * (1.0 + float(np.cos(np.pi * min(done, 1.0))))


def upsample(map_B1hw: Tensor, size: tuple[int, ...]) -> Tensor:
    """(B, 1, h, w) to (B, H, W), bilinearly."""
    return functional.interpolate(map_B1hw, size=tuple(size), mode="bilinear", align_corners=False)[:, 0]
