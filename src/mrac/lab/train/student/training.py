"""The recipe of the small network: views of pictures and rendered scenes, taught by the embedded network."""

import copy
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from mrac.lab.train.cuda_graph import GraphedStep
from mrac.lab.train.foundation.photometric import vary_colours
from mrac.lab.train.foundation.training import frame_odds, rate_at
from mrac.lab.train.foundation.views import ViewOptions, sample_views
from mrac.lab.train.frames import Frames
from mrac.lab.train.norms import START_BATCHES
from mrac.lab.train.quantized.teacher import DeviceTeacher, distance_to
from mrac.lab.train.small_network import SmallNetwork
from mrac.lab.train.student.start import started

_AVERAGE_EVERY = 5  # steps: in five the weights move little
_RATE_FOR = 64  # views a step, for which the learning rate was chosen

Shapes = tuple[tuple[tuple[int, int], float], ...]


@dataclass(frozen=True)
class StudentOptions:
    """Everything that decides the result.

    Attributes:
        num_steps: of the optimiser.
        small_share: of the steps that come first, with views of two thirds of the size.
        small_batch, batch: views a step, of either size.
        small_shapes, shapes: (H, W) of the input, one of them a step, and how often each.
        shares: of a batch, per set; sets of other names come in proportion to their frames.
        num_scenes: rendered before the first step, as the set `scenes`.
        rate: peak learning rate of AdamW, for 64 views a step; it goes with the root of `batch`.
        weight_decay: of AdamW.
        warmup: share of the steps until the peak; then a cosine to zero.
        average: share of the steps over which the weights are averaged, exponentially.
        gradient, metric: weights of the losses beside the shift-invariant one.
        colour: strength of `vary_colours`.
        plain_colour: share of the views that keep their colours.
        views: of the virtual camera.
        taught_by: hash of the teacher's file, so that a killed run does not mix two.
        seed: of everything drawn.
    """

    num_steps: int = 450
    small_share: float = 0.3
    small_batch: int = 12
    batch: int = 8
    small_shapes: Shapes = (((192, 256), 0.75), ((128, 416), 0.25))
    shapes: Shapes = (((288, 384), 0.75), ((192, 640), 0.25))
    shares: dict[str, float] = field(
        default_factory=lambda: {
            "nyu": 0.50,
            "kitti15": 0.09,
            "kitti_seq": 0.04,
            "camvid": 0.06,
            "hololens": 0.06,
            "mosd": 0.06,
            "redkitchen": 0.04,
            "scenes": 0.15,
        }
    )
    num_scenes: int = 64
    rate: float = 2.8e-3
    weight_decay: float = 0.02
    warmup: float = 0.05
    average: float = 0.03
    gradient: float = 0.5
    metric: float = 0.1
    colour: float = 1.0
    plain_colour: float = 0.4
    views: ViewOptions = field(default_factory=lambda: ViewOptions(plain=0.45))
    taught_by: str = ""
    seed: int = 0


class StudentTraining:
    """The state of a run: network, averaged network, optimiser, step.

    The last layers alone learn; all others stay the teacher's. `mrac train quantize` then moves every weight. Tried:
    with the others too, from the 240th step of eight views on, the answer was farther from the teacher's at the 300th
    than at the 200th. The norms keep the statistics that they start with: with those of each batch the answer was
    farther away after fifty steps than before the first.

    Every step draws from seeds of its own, so a run that was killed goes on as if nothing had happened.
    """

    def __init__(self, options: StudentOptions, teacher: DeviceTeacher, sets: list[Frames]) -> None:
        """Starts a run.

        Args:
            options: of the run.
            teacher: on the device of the sets.
            sets: to draw from.
        """
        self.options, self.teacher, self.sets = options, teacher, sets
        self.device = sets[0].images.device
        self._odds = [frame_odds(frames) for frames in sets]
        self.step = 0
        torch.manual_seed(options.seed)
        after = range(options.num_steps, options.num_steps + START_BATCHES)  # views as the last steps see them
        self.network: SmallNetwork = started(teacher.network, (self.batch(step) for step in after))
        self.averaged = copy.deepcopy(self.network).requires_grad_(False)
        self.network.requires_grad_(False)
        for layer in self.network.last_layers():
            layer.requires_grad_(True)
        self._learned, self._mean = _last_parameters(self.network), _last_parameters(self.averaged)
        self._on_gpu = self.device.type == "cuda"
        self.optimizer = torch.optim.AdamW(self._learned, lr=0.0, weight_decay=options.weight_decay, fused=self._on_gpu)
        self.scaler = torch.GradScaler(self.device.type, enabled=self._on_gpu)
        self._gradients = GraphedStep(self._backward, self.network)

    def batch(self, step: int) -> Tensor:
        """(B, 3, H, W) RGB in [0, 255]: the views of a step."""
        options = self.options
        generator = torch.Generator(self.device).manual_seed(options.seed * 1_000_003 + step)
        choose = np.random.default_rng((options.seed, step))
        small = step < options.small_share * options.num_steps
        shapes, num = (options.small_shapes, options.small_batch) if small else (options.shapes, options.batch)
        size = shapes[choose.choice(len(shapes), p=[share for _, share in shapes])][0]
        share = np.array([options.shares.get(s.set_name, len(s) / sum(map(len, self.sets))) for s in self.sets])
        views = [
            sample_views(frames, odds, int(count), size, options.views, generator).image
            for frames, odds, count in zip(
                self.sets, self._odds, choose.multinomial(num, share / share.sum()), strict=True
            )
            if count
        ]
        image = torch.cat(views)
        kept = torch.rand(len(image), 1, 1, 1, generator=generator, device=self.device) < options.plain_colour
        return torch.where(kept, image, vary_colours(image, generator, options.colour)).round_()

    def advance(self) -> Tensor:
        """One step; gives the loss, still on the device."""
        options = self.options
        warmup = max(1, round(options.warmup * options.num_steps))
        rate = options.rate * (options.batch / _RATE_FOR) ** 0.5 * rate_at(self.step, options.num_steps, warmup)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss = self._gradients(self.batch(self.step))
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.step += 1
        if self.step % _AVERAGE_EVERY == 0 or self.step == options.num_steps:
            self._average()
        return loss

    def _backward(self, image: Tensor) -> Tensor:
        """The loss of a batch, its gradients left in the network."""
        target, weight = self.teacher(image)
        with torch.autocast(self.device.type, dtype=torch.float16, enabled=self._on_gpu, cache_enabled=False):
            with torch.no_grad():
                maps = self.network.begin(image.contiguous(memory_format=torch.channels_last))
            predicted = self.network.finish(*maps)
        loss = distance_to(target, weight, predicted[:, 0].float(), self.options.gradient, self.options.metric)
        self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        return loss

    @torch.no_grad()
    def _average(self) -> None:
        # The first steps must not be remembered as long as the last: the decay grows to its value.
        over = max(self.options.average * self.options.num_steps, _AVERAGE_EVERY)
        decay = min(1.0 - _AVERAGE_EVERY / over, (1.0 + self.step) / (10.0 * _AVERAGE_EVERY + self.step))
        torch._foreach_lerp_(self._mean, self._learned, 1.0 - decay)


def _last_parameters(network: SmallNetwork) -> list[Tensor]:
    return [parameter for layer in network.last_layers() for parameter in layer.parameters()]
