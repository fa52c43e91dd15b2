"""The second reading of a recording: each image with its readings, few of them in memory."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mrac.errors import ContractError
from mrac.recordings.opened import Message, Recording
from mrac.recordings.survey import Survey
from mrac.recordings.synchronise import Partners, partners
from mrac.recordings.topics import Chosen


@dataclass(frozen=True, eq=False)
class Plan:
    """Which images are calibrated, with which readings.

    Attributes:
        images: (N,) their numbers in the topic, by the time they were recorded at.
        partners: (N, T) the numbers of the messages of each topic of readings; -1 for none.
        num_alone: images of the chosen time without readings.
        num_unused: (T,) messages of each topic of readings that no image takes, of the chosen time or not.
    """

    images: NDArray[np.int64]
    partners: NDArray[np.int64]
    num_alone: int
    num_unused: tuple[int, ...]

    def __len__(self) -> int:
        return int(self.images.size)


@dataclass(frozen=True, eq=False)
class RawFrame:
    """An image with its readings, as stored.

    Attributes:
        number: in the plan.
        stamp_ns: of the image's header, or the time it was recorded at.
        image: the message.
        readings: (number of the topic among the chosen ones, message).
    """

    number: int
    stamp_ns: int
    image: Message
    readings: list[tuple[int, Message]]


@dataclass(frozen=True, kw_only=True)
class Window:
    """Which images are taken.

    Attributes:
        start_s: seconds after the first image.
        end_s: likewise; None: to the end.
        every: one of so many.
        slop_s: largest difference of the stamps of an image and its readings.
    """

    start_s: float = 0.0
    end_s: float | None = None
    every: int = 1
    slop_s: float = 0.02


def make_plan(found: Survey, chosen: Chosen, window: Window) -> Plan:
    """Chooses images and their readings.

    Raises:
        ContractError: there is no image in the window, or none has readings.
    """
    track = found.tracks[chosen.image]
    stamps = track.stamps_ns
    if not stamps.size:
        raise ContractError(f"bag: {chosen.image} has no message that can be read")
    since = (stamps - stamps.min()) / 1e9
    last = np.inf if window.end_s is None else window.end_s
    inside = np.flatnonzero((since >= window.start_s) & (since <= last))[:: window.every]
    if not inside.size:
        end = "on" if window.end_s is None else f"to {window.end_s:g} s"
        raise ContractError(
            f"bag: no image of {chosen.image} from {window.start_s:g} s {end}; it lasts {float(since.max()):.3f} s"
        )
    readings = [found.tracks[topic].stamps_ns for _, topic in chosen.readings]
    pairs: Partners = partners(stamps, readings, round(window.slop_s * 1e9))
    paired = pairs.has_any[inside]
    if not paired.any():
        raise ContractError(
            f"bag: no image has readings within {window.slop_s:g} s ({_distance(stamps[inside], readings)}); give a "
            "larger --slop, or look at the clocks: stamps of headers are compared"
        )
    return Plan(inside[paired], pairs.index[inside[paired]], int((~paired).sum()), pairs.num_unused)


def _distance(images: NDArray[np.int64], readings: list[NDArray[np.int64]]) -> str:
    present = [stamps for stamps in readings if stamps.size]
    nearest = partners(images, present, np.iinfo(np.int64).max).index.T
    least = [int(np.abs(stamps[index] - images).min()) for stamps, index in zip(present, nearest, strict=True)]
    return f"the nearest is {min(least) / 1e9:.3f} s away" if least else "there are none"


def raw_frames(recording: Recording, chosen: Chosen, found: Survey, plan: Plan, first: int = 0) -> Iterator[RawFrame]:
    """The frames of a plan in their order, read in one pass; in memory are those whose readings are still to come.

    Args:
        recording: opened.
        chosen: its topics.
        found: of the same topics.
        plan: of the same.
        first: number of the first frame that is wanted.
    """
    topics = [topic for _, topic in chosen.readings]
    state = _Waiting(plan, first)
    start_ns = _start(found, chosen, plan, first)
    counts = {
        topic: 0 if start_ns is None else int(np.searchsorted(found.tracks[topic].logs_ns, start_ns))
        for topic in (chosen.image, *topics)
    }
    stamps = found.tracks[chosen.image].stamps
    for message in recording.messages([chosen.image, *topics], start_ns):
        try:
            recording.header(message)
        except ContractError:  # as in the survey, which did not count it
            continue
        number = counts[message.topic]
        counts[message.topic] = number + 1
        if message.topic == chosen.image:
            state.add_image(number, int(stamps[number]), message)
        for column, topic in enumerate(topics):
            if topic == message.topic:
                state.add_reading(column, number, message)
        yield from state.ready()


def _start(found: Survey, chosen: Chosen, plan: Plan, first: int) -> int | None:
    """The time of recording from which on messages are needed; None: from the beginning."""
    if not first or first >= len(plan):
        return None
    tracks = [found.tracks[chosen.image], *(found.tracks[topic] for _, topic in chosen.readings)]
    logs = [track.logs_ns for track in tracks]
    if any((np.diff(some) < 0).any() for some in logs):  # of a cut recording, read in the order of the file
        return None
    needed = [logs[0][plan.images[first:]].min()]
    for column, some in enumerate(logs[1:]):
        index = plan.partners[first:, column]
        if (index >= 0).any():
            needed.append(some[index[index >= 0]].min())
    return int(min(needed))


@dataclass(eq=False)
class _Waiting:
    """Images and readings that are not handed out yet."""

    plan: Plan
    next_image: int
    images: deque[tuple[int, Message]] = field(default_factory=deque)
    readings: dict[tuple[int, int], Message] = field(default_factory=dict)
    last_use: list[NDArray[np.int64]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.next_frame = self.next_image
        frames = np.arange(self.next_frame, len(self.plan))
        for index in self.plan.partners[self.next_frame :].T:
            last = np.full(int(self.plan.partners.max(initial=0)) + 1, -1, np.int64)
            np.maximum.at(last, index[index >= 0], frames[index >= 0])
            self.last_use.append(last)

    def add_image(self, number: int, stamp_ns: int, message: Message) -> None:
        if self.next_image < len(self.plan) and self.plan.images[self.next_image] == number:
            self.next_image += 1
            self.images.append((stamp_ns, message))

    def add_reading(self, column: int, number: int, message: Message) -> None:
        if number < self.last_use[column].size and self.last_use[column][number] >= self.next_frame:
            self.readings[column, number] = message

    def ready(self) -> Iterator[RawFrame]:
        while self.images:
            keys = [(c, int(i)) for c, i in enumerate(self.plan.partners[self.next_frame]) if i >= 0]
            if not all(key in self.readings for key in keys):
                return
            stamp_ns, image = self.images.popleft()
            frame = RawFrame(self.next_frame, stamp_ns, image, [(key[0], self.readings[key]) for key in keys])
            for key in keys:
                if self.last_use[key[0]][key[1]] == self.next_frame:
                    del self.readings[key]
            self.next_frame += 1
            yield frame
