"""The recipe of the 8-bit network: views of training pictures, taught by the network in single precision."""

import copy
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from mrac.lab.train.foundation.photometric import vary_colours
from mrac.lab.train.foundation.training import frame_odds, rate_at
from mrac.lab.train.foundation.views import ViewOptions, sample_views
from mrac.lab.train.frames import Frames
from mrac.lab.train.quantized.network import QuantizedNetwork
from mrac.lab.train.quantized.teacher import Teacher, distance_to


@dataclass(frozen=True)
class QuantizeOptions:
    """Everything that decides the result.

    Attributes:
        num_steps: of the optimiser.
        parts: batches of one shape a step, side by side on the cores; more cores than these do not help.
        batch: views a part.
        shapes: (H, W) of a part's input, and how often each.
        rate, bias_rate: peak learning rates of Adam for weights, and for biases and zeros, in steps of their grids. At
            ten times these the first steps do harm that a short run does not make good.
        gain_rate, range_rate: of the logarithms of weights' scales and of activations' ranges.
        warmup: steps until the peak; then a cosine to zero.
        average: of what is learned, exponential, per step.
        gradient, metric: weights of the losses beside the shift-invariant one.
        colour: strength of `vary_colours`.
        views: of the virtual camera.
        seed: of everything drawn.
    """

    num_steps: int
    parts: int = 2
    batch: int = 4
    shapes: tuple[tuple[tuple[int, int], float], ...] = (
        ((192, 256), 0.45),
        ((288, 384), 0.30),
        ((128, 416), 0.15),
        ((192, 640), 0.10),
    )
    rate: float = 0.001
    bias_rate: float = 0.003
    gain_rate: float = 5e-4
    range_rate: float = 3e-3
    warmup: int = 50
    average: float = 0.99
    gradient: float = 0.5
    metric: float = 0.1
    colour: float = 1.0
    views: ViewOptions = field(default_factory=lambda: ViewOptions(plain=0.5))
    seed: int = 0


class QuantizeTraining:
    """The state of a run: network, averaged network, optimiser, step.

    Every step draws from seeds of its own, so a run that was killed goes on as if nothing had happened.
    """

    def __init__(
        self,
        options: QuantizeOptions,
        network: QuantizedNetwork,
        teacher: Teacher,
        sets: list[Frames],
        calibrated: str = "",
    ) -> None:
        """Starts a run.

        Args:
            options: of the run.
            network: calibrated; it is changed.
            teacher: the network in single precision that it is to answer as.
            sets: to draw from.
            calibrated: digest of what `network` was made from, so that a killed run does not mix two.
        """
        self.options, self.network, self.teacher, self.sets = options, network, teacher, sets
        self.calibrated = calibrated
        self.averaged = copy.deepcopy(network).requires_grad_(False)
        learned = network.learned()
        self._learned: list[Tensor] = list(learned.values())
        self._names = list(learned)
        self.score, self.best = math.inf, {name: value.detach().clone() for name, value in learned.items()}
        peaks = {
            ("steps",): options.rate,
            ("shift", "zero"): options.bias_rate,
            ("log_gain",): options.gain_rate,
            ("log_scale",): options.range_rate,
        }
        groups = [
            {"params": [value for name, value in learned.items() if name.endswith(ends)], "peak": peak}
            for ends, peak in peaks.items()
        ]
        self.optimizer = torch.optim.Adam(groups, lr=0.0, betas=(0.9, 0.99), foreach=True)
        self._odds = [frame_odds(frames) for frames in sets]
        # A set of ten times as many frames is drawn from three times as often.
        share = np.sqrt([len(frames) for frames in sets])
        self._share = share / share.sum()
        self.step = 0

    def advance(self) -> float:
        """One step; gives the loss."""
        options = self.options
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * rate_at(self.step, options.num_steps, options.warmup)
        before = torch.get_num_threads()
        with ThreadPoolExecutor(options.parts) as pool:
            done = list(pool.map(self._part, range(options.parts)))
        torch.set_num_threads(before)
        for parameter, *grads in zip(self._learned, *(grads for _, grads in done), strict=True):
            parameter.grad = torch.stack(grads).mean(0) if len(grads) > 1 else grads[0]
        self.optimizer.step()
        self.step += 1
        # The first steps must not be remembered as long as the last: the decay grows to its value.
        decay = min(options.average, (1.0 + self.step) / (10.0 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.averages().values()), self._learned, 1.0 - decay)
        return sum(loss for loss, _ in done) / len(done)

    def averages(self) -> dict[str, Tensor]:
        """What is learned, averaged, by name; the averaged network's own tensors."""
        own = dict(self.averaged.named_parameters())
        return {name: own[name].detach() for name in self._names}

    def keep_if_better(self, score: float) -> None:
        """Keeps the averaged network as the best if `score`, its distance to the teacher, is the least so far."""
        if score < self.score:
            self.score, self.best = score, {name: value.clone() for name, value in self.averages().items()}

    def views(self, part: int) -> Tensor:
        """(B, 3, H, W) RGB in [0, 255]: the pictures of a part of the current step."""
        options = self.options
        of_step = np.random.default_rng((options.seed, self.step))  # one shape for all parts: none waits for another
        size = options.shapes[of_step.choice(len(options.shapes), p=[share for _, share in options.shapes])][0]
        choose = np.random.default_rng((options.seed, self.step, part))
        generator = torch.Generator().manual_seed(int(choose.integers(2**62)))
        counts = choose.multinomial(options.batch, self._share)
        views = [
            sample_views(frames, odds, int(num), size, options.views, generator).image
            for frames, odds, num in zip(self.sets, self._odds, counts, strict=True)
            if num
        ]
        return vary_colours(torch.cat(views), generator, options.colour).round_()

    def _part(self, part: int) -> tuple[float, tuple[Tensor, ...]]:
        torch.set_num_threads(1)  # of this thread alone: two threads a convolution wait for each other
        image = self.views(part)
        target, weight = self.teacher(image)
        loss = self.loss(self.network(image)[:, 0], target, weight)
        return float(loss.detach()), torch.autograd.grad(loss, self._learned)

    def loss(self, predicted_BHW: Tensor, target_BHW: Tensor, weight_BHW: Tensor) -> Tensor:
        """The weighted sum of the losses, mean over the batch."""
        return distance_to(target_BHW, weight_BHW, predicted_BHW, self.options.gradient, self.options.metric)
