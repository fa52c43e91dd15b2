"""Training of the embedded foundation: real views and rendered ones, losses on log depth, averaged weights."""

import copy
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mrac.gpu.network import DepthNetwork
from mrac.lab.train.cuda_graph import GraphedStep
from mrac.lab.train.foundation.losses import (
    affine_invariant_l1,
    bound_l1,
    gradient_l1,
    local_l1,
    log_target,
    metric_l1,
    shift_invariant_l1,
    sky_l1,
)
from mrac.lab.train.foundation.occlusion import paste_foregrounds
from mrac.lab.train.foundation.photometric import hide_patches, vary_colours
from mrac.lab.train.foundation.recipe import FoundationOptions
from mrac.lab.train.foundation.views import Views, sample_views
from mrac.lab.train.frames import Frames
from mrac.lab.train.norms import START_BATCHES, put_norms_back

# The sky is at least so much farther than the farthest depth that is known in an image, and no more than the second is
# asked for. Measured against the network's own answer for the rest instead, which holds sky that nobody labelled, each
# pushes the other up without end; against a fixed 200 m, bright and leafy things of other streets became far too.
_SKY_MARGIN, _SKY_ENOUGH = math.log(1.3), math.log(150.0)
CANONICAL_FOCAL = 0.9  # focal length over width for which the output is in metres, as far as one picture can tell
_AVERAGE_EVERY = 5  # steps: in five the weights move little
_TILES = (12, 48)  # of an image: of the second, one has as many as a user gives readings


class FoundationTraining:
    """The state of a run: network, averaged network, optimiser, step.

    Every step draws from seeds of its own, so a run that was killed goes on as if nothing had happened.
    """

    def __init__(
        self,
        options: FoundationOptions,
        sets: list[Frames],
        published: dict[str, Tensor] | None,
        start: DepthNetwork | dict[str, Tensor] | None = None,
    ) -> None:
        """Starts a run.

        Args:
            options: of the run.
            sets: to draw from, all on the device to train on.
            published: weights of the encoder on ImageNet; None starts from random ones.
            start: a network of an earlier run, to start from its weights; or the state of one without norms, as
                `network_from_onnx` gives it.
        """
        self.options, self.sets = options, sets
        self.device = sets[0].images.device
        self._odds = [frame_odds(frames) for frames in sets]
        self.step = 0
        torch.manual_seed(options.seed)
        self.network = DepthNetwork(options.network)
        if published is not None:
            self.network.encoder.load_published(published)
        if isinstance(start, DepthNetwork):
            self.network.load_state_dict(start.state_dict())
        self.network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        if isinstance(start, dict):
            after = range(options.num_steps, options.num_steps + START_BATCHES)  # views as the last steps see them
            put_norms_back(self.network, start, (self.batch(step).image for step in after))
        self.averaged = copy.deepcopy(self.network).eval().requires_grad_(False)
        self._begun = copy.deepcopy(self.averaged)
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

    def _seed_of(self, step: int) -> int:
        return self.options.seed * 1_000_003 + step

    def _half(self) -> torch.autocast:
        # Without its cache, which would keep the recording's first copy of the weights for all steps to come.
        return torch.autocast(self.device.type, dtype=torch.float16, enabled=self._on_gpu, cache_enabled=False)

    def batch(self, step: int) -> Views:
        """The views of a step."""
        options = self.options
        generator = torch.Generator(self.device).manual_seed(self._seed_of(step))
        choose = np.random.default_rng((options.seed, step))
        phase = options.phase(step)
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
        torch.manual_seed(self._seed_of(self.step))  # of the residual branches that are dropped
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * rate_at(self.step, options.num_steps, options.warmup)
        views = self.batch(self.step)
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

    @torch.no_grad()
    def result(self) -> DepthNetwork:
        """The averaged network, mixed with the start as far as the recipe says."""
        mixed = copy.deepcopy(self.averaged)
        for value, begun in zip(mixed.state_dict().values(), self._begun.state_dict().values(), strict=True):
            if value.dtype.is_floating_point:
                value.lerp_(begun, self.options.start_share)
        return mixed

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
            + weights.local * sum(local_l1(error, known, num) for num in _TILES)
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
