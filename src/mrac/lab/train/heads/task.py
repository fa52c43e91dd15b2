"""What the residual and the raw head learn from: minibatches, losses, and how well they do on frames held out."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from mrac.lab.train.foundation.losses import halve, log_target
from mrac.lab.train.heads.batch import Draw, Minibatch, draw_batch
from mrac.lab.train.heads.data import HeadFrames
from mrac.lab.train.heads.losses import Features, cwa, fmp, frozen_encoder, residual, silog, ssc
from mrac.lab.train.heads.options import HeadOptions, LossWeights
from mrac.lab.train.heads.residual_network import RawNetwork, ResidualNetwork, compose, line_depth, raw_depth

_SCORED_ANCHORS = 50


@dataclass(frozen=True, eq=False)
class HeadTask:
    """See `heads.training.TrainingTask`.

    Attributes:
        options: of the recipe.
        sets: to learn from.
        held: to measure on.
        features: the encoder of the loss `fmp`; None takes the published one.
    """

    options: HeadOptions
    sets: list[HeadFrames]
    held: list[HeadFrames]
    features: Features | None = None

    @property
    def device(self) -> torch.device:
        """Where the frames lie."""
        return self.sets[0].x.device

    @property
    def sizes(self) -> list[int]:
        """Frames of each set."""
        return [len(frames) for frames in self.sets]

    @property
    def weights(self) -> dict[str, float]:
        """Of the losses that count, by name."""
        weights = self.options.weights
        own = {f.name: getattr(weights, f.name) for f in fields(LossWeights)}
        if self.options.kind == "raw":
            del own["res"]  # there is no fit to stay near
        return {name: weight for name, weight in own.items() if weight}

    @property
    def about(self) -> dict[str, str]:
        """What the runtime must know of the head."""
        options = self.options
        return {
            "mrac.kind": options.kind,
            "mrac.form": options.form,
            "mrac.space": options.space,
            "mrac.recipe": options.recipe,
            "mrac.num_pixels": str(options.num_pixels),
        }

    def network(self) -> nn.Module:
        """A new one."""
        networks = {"raw": RawNetwork, "residual": ResidualNetwork}
        return networks[self.options.kind]()

    def batch(self, which: int, index: Tensor, num_anchors: int, generator: torch.Generator) -> Minibatch:
        """Frames `index` (B,) of set `which`, with clean anchors."""
        options = self.options
        draw = Draw(num_anchors, options.dropout_rate_max, options.space, options.form)
        return draw_batch(self.sets[which], index, draw, generator)

    def losses(self, model: nn.Module, batch: Sequence[Tensor]) -> Tensor:
        """(P,) the mean over a `Minibatch` of each loss of `weights`, in that order."""
        options, batch = self.options, Minibatch(*batch)
        log_true, known = log_target(batch.z_m)
        z, maps = self._depth(model, batch, options.limits_m)
        log_z = z.log()
        log_line = None
        if options.kind == "residual":
            log_line = line_depth(batch.line(options.space), batch.x, options.limits_m).log()
        error = log_z - log_true
        calls = {
            "silog": lambda: silog(error, known),
            "cwa": lambda: cwa(error, maps[:, -1], known, batch.mask),
            "ssc": lambda: ssc(log_z, log_true, log_line, known, batch.image),
            "fmp": lambda: self._fmp(log_z, log_true, known),
            "res": lambda: residual(maps[:, 0], maps[:, 1]),
        }
        return torch.stack([calls[name]().mean() for name in self.weights])

    def _fmp(self, log_z: Tensor, log_true: Tensor, known: Tensor) -> Tensor:
        # At half the size: the encoder would else cost three times what the head does.
        features = self.features or frozen_encoder(self.device)
        unknown_as_0 = torch.where(known > 0, log_z, 0.0)
        (seen, share), (true, _) = (halve(m[:, None], known[:, None]) for m in (unknown_as_0, log_true))
        return fmp(seen[:, 0], true[:, 0], share[:, 0], features)

    @torch.no_grad()
    def score(self, model: nn.Module) -> dict[str, dict[str, float]]:
        """Per set held out, the mean AbsRel of the head and of the affine fit, on the same 50 clean anchors a frame."""
        options, scores = self.options, {}
        for frames in self.held:
            generator = torch.Generator(self.device).manual_seed(options.seed)
            draw = Draw(_SCORED_ANCHORS, 0.0, options.space, options.form, mirror=False)
            errors: dict[str, list[Tensor]] = {"head": [], "affine": []}
            for index in torch.split(torch.arange(len(frames), device=self.device), options.batch):
                batch = draw_batch(frames, index, draw, generator)
                errors["head"].append(abs_rel(self._depth(model, batch, options.limits_m)[0], batch.z_m))
                line_m = line_depth(batch.line(options.space), batch.x, options.limits_m)
                errors["affine"].append(abs_rel(line_m, batch.z_m))
            scores[frames.frames.set_name] = {name: float(torch.cat(e).mean()) for name, e in errors.items()}
        return scores

    def _depth(self, model: nn.Module, batch: Minibatch, limits_m: tuple[float, float]) -> tuple[Tensor, Tensor]:
        """(B, H, W) metres, and the network's maps (B, P, H, W)."""
        maps = model(batch.image.float(), *(m[:, None] for m in (batch.normal, batch.mask, batch.anchor))).float()
        if self.options.kind == "raw":
            return raw_depth(maps[:, 0], limits_m), maps
        line = batch.line(self.options.space)
        z = compose(line, batch.x, maps[:, 0], maps[:, 1], normal_BHW=batch.normal, limits_m=limits_m)
        return z, maps


def abs_rel(z_BHW: Tensor, true_BHW: Tensor) -> Tensor:
    """(B,) mean |z − true| / true over the measured pixels, those where it is > 0."""
    known = (true_BHW > 0).float()
    relative = (z_BHW - true_BHW).abs() / torch.where(true_BHW > 0, true_BHW, 1.0)
    return (relative * known).sum(dim=(1, 2)) / known.sum(dim=(1, 2)).clamp(min=1.0)
