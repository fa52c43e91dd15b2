"""The service as a Ray Serve application: the same routes and answers, frames calibrated in batches (extra `ray`).

    serve run mrac.serve.ray_app:app                  # Ray's command; arguments: method=mrac max_batch=4 ...

Each replica is one process that runs the whole service. Frames that arrive within a few milliseconds of each other are
collected, and those of equal shape and choices go through `Calibrator.batch` together.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from mrac.anchors import Anchors
from mrac.errors import ContractError, MissingExtra, MracError
from mrac.http import Frame, Limits, Offer, TimeUpError
from mrac.result import MetricDepth
from mrac.serve.app import Step, create_app
from mrac.serve.handler import Answer, Handler, Job
from mrac.serve.settings import Settings, read_token
from mrac.serve.workers import Place


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """How the work is spread.

    Attributes:
        settings: of the service in every replica.
        num: processes.
        num_cpus: cores that Ray counts for each; what a calibration uses is `settings.workers` and its networks.
        num_gpus: GPUs, or a share of one, for each.
        max_batch: frames of a batch.
        batch_wait_s: for how long a frame waits for others.
    """

    settings: Settings = field(default_factory=Settings)
    num: int = 1
    num_cpus: float = 1.0
    num_gpus: float = 0.0
    max_batch: int = 8
    batch_wait_s: float = 0.01


def application(replicas: Replicas | None = None) -> Any:
    """The application, for `ray.serve.run(application(...))`.

    Raises:
        MissingExtra: Ray is not installed.
    """
    try:
        from ray import serve  # noqa: PLC0415  (an extra; it takes a second to import)
    except ImportError:
        raise MissingExtra("Ray Serve", "ray") from None
    chosen = replicas or Replicas()
    settings = chosen.settings

    def build() -> Any:
        return create_app(settings, lambda handler: in_batches(handler, chosen))

    deployment = serve.deployment(
        name="mrac",
        num_replicas=chosen.num,
        # Beyond what may wait the service itself answers 429; were Ray's limit lower, clients would wait in its proxy.
        max_ongoing_requests=settings.workers + settings.waiting + 100,
        ray_actor_options={"num_cpus": chosen.num_cpus, "num_gpus": chosen.num_gpus},
    )
    return deployment(serve.ingress(build)()).bind()


def in_batches(handler: Handler, replicas: Replicas) -> Step:
    """Runs jobs so that their frames are calibrated together; decoding and encoding stay with each job."""
    from ray import serve  # noqa: PLC0415

    workers = handler.settings.workers

    @serve.batch(max_batch_size=replicas.max_batch, batch_wait_timeout_s=replicas.batch_wait_s)
    async def batched(frames: list[Frame]) -> list[tuple[MetricDepth, Anchors] | MracError]:
        return await asyncio.to_thread(handler.batch, frames, workers)

    async def step(place: Place, job: Job, request: Request) -> Answer:
        seconds = handler.settings.limits.seconds
        frame = await place.run(lambda: handler.decode(job), seconds, request)
        try:
            async with asyncio.timeout(seconds):
                done = await batched(frame)
        except TimeoutError:
            raise TimeUpError(f"time: not done after {seconds:g} s; send a smaller image or fewer anchors") from None
        if isinstance(done, MracError):
            raise done
        return await place.run(lambda: handler.encode(job, frame, *done), seconds, request)

    return step


def app(arguments: dict[str, str]) -> Any:
    """The application from Ray's command line: `serve run mrac.serve.ray_app:app method=mrac replicas=2`.

    The token is that of the environment variable MRAC_TOKEN.

    Raises:
        ContractError: an argument is unknown or not a number.
    """
    known: dict[str, Callable[[str], Any]] = {
        **dict.fromkeys(("method", "foundation", "device"), str),
        **dict.fromkeys(("replicas", "workers", "max_waiting", "max_batch", "max_pixels", "max_anchors"), int),
        **dict.fromkeys(("num_cpus", "num_gpus", "batch_wait_s", "max_seconds"), float),
    }
    given: dict[str, Any] = {}
    for name, text in arguments.items():
        if name not in known:
            raise ContractError(f"ray_app: no argument {name!r}; known: {', '.join(known)}")
        try:
            given[name] = known[name](text)
        except ValueError:
            raise ContractError(f"ray_app: {name}={text!r} arrived; a number is needed") from None

    def some(**names: str) -> dict[str, Any]:
        return {own: given[name] for own, name in names.items() if name in given}

    settings = Settings(
        offer=Offer(**some(method="method", foundation="foundation", device="device")),
        limits=Limits(**some(pixels="max_pixels", anchors="max_anchors", seconds="max_seconds")),
        token=read_token(None),
        **some(workers="workers", waiting="max_waiting"),
    )
    names = {name: name for name in ("num_cpus", "num_gpus", "max_batch", "batch_wait_s")}
    return application(Replicas(settings=settings, **some(num="replicas", **names)))
