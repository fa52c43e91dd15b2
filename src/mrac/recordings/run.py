"""A recording in, a recording out: surveyed, calibrated frame by frame, resumable, written as MCAP."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from mrac.errors import ContractError, MracError
from mrac.pipeline import Calibrator
from mrac.recordings.decode import Decoder, Geometry
from mrac.recordings.frames import Plan, RawFrame, Window, make_plan, raw_frames
from mrac.recordings.join import Copy, write_recording
from mrac.recordings.journal import Entry, Journal
from mrac.recordings.message_classes import RosbagsClasses
from mrac.recordings.opened import Recording
from mrac.recordings.outputs import OUTPUTS, failure_message
from mrac.recordings.readings import ReadingOptions
from mrac.recordings.solve import Frame, Solver, header_message, solved_messages
from mrac.recordings.survey import survey
from mrac.recordings.topics import Chosen
from mrac.runtime.parallel import num_cores
from mrac.stream import in_order
from mrac.version import __version__

JOURNAL: Final = "frames.journal"


@dataclass(frozen=True, kw_only=True)
class BagOptions:
    """What a run does besides calibrating.

    Attributes:
        window: which images, and which readings belong to them.
        geometry: where camera and sensors are, besides what is recorded.
        readings: how messages become anchors.
        prefix: of the topics of the results.
        cloud_stride: of the coloured cloud; 0: none.
        copy: topics of the input that the output has too.
        video: frames are calibrated as a video.
        compression: of the output: `zstd` or `none`.
    """

    window: Window = field(default_factory=Window)
    geometry: Geometry = field(default_factory=Geometry)
    readings: ReadingOptions = field(default_factory=ReadingOptions)
    prefix: str = "/mrac"
    cloud_stride: int = 4
    copy: tuple[str, ...] = ()
    video: bool = False
    compression: str = "zstd"


class BagRun:
    """A run over one recording.

    Args:
        recording: opened.
        chosen: its topics.
        options: see there.
        report: called with the number of messages that the first reading has seen.

    Attributes:
        plan: which frames there are.
        notes: what is to be told beforehand: images without readings, stamps that are missing, damage.

    Raises:
        ContractError: no frame can be made: see `make_plan` and `Decoder.check`.
    """

    def __init__(
        self,
        recording: Recording,
        chosen: Chosen,
        options: BagOptions,
        report: Callable[[int], object] = lambda number: None,
    ) -> None:
        self.recording, self.chosen, self.options = recording, chosen, options
        self.survey = survey(recording, chosen, report)
        self.plan: Plan = make_plan(self.survey, chosen, options.window)
        self.decoder = Decoder(recording, chosen, self.survey, options.geometry, options.readings)
        self.decoder.check()
        self.channels = {_topic(options.prefix, name): kind for name, (kind, _) in OUTPUTS.items()}
        self._copy = Copy(recording, options.copy, list(self.channels)) if options.copy else None

    @property
    def notes(self) -> list[str]:
        """One line each."""
        slop = f"{self.options.window.slop_s:g} s"
        found = [f"{self.recording.path}: {fault}" for fault in self.recording.faults]
        if self.plan.num_alone:
            found.append(
                f"{self.plan.num_alone} images of {self.chosen.image} have no readings within {slop}: left out"
            )
        for (_, topic), unused in zip(self.chosen.readings, self.plan.num_unused, strict=True):
            if unused:
                found.append(f"{unused} messages of {topic} belong to no image within {slop}")
        for topic, track in self.survey.tracks.items():
            if track.num_unstamped:
                found.append(f"{track.num_unstamped} messages of {topic} have no stamp: the time of recording is used")
        for topic, number in self.survey.num_broken.items():
            found.append(f"{number} messages of {topic} are damaged: left out")
        for (parent, child), number in self.survey.transforms.refused.items():
            found.append(f"{number} transforms {parent} → {child} have no rotation, or no finite numbers: ignored")
        if self.decoder.geometry.camera is None and not self._has_camera():
            found.append(f"no camera of {self.chosen.image}: no camera_info, points and readings are written")
        return found

    def __len__(self) -> int:
        return len(self.plan)

    def run(
        self,
        calibrator: Calibrator,
        out: Path,
        report: Callable[[dict[str, Any]], object] = lambda about: None,
        *,
        restart: bool = False,
    ) -> None:
        """Calibrates all frames that are not finished yet, and writes the output.

        Args:
            calibrator: the stages.
            out: the .mcap file. Beside it is OUT.part while the run goes on; the same call again goes on from there.
            report: called with what each frame says of itself: `frame`, `status`, ..., or `error`; `skipped` where an
                earlier run finished it.
            restart: forget what is finished.

        Raises:
            ContractError: the output is there already, or its .part is of other options; or the recording could not be
                read as far as the first time, as of a disk that fails: what is finished is kept.
        """
        part = checked_output(out, self.recording, restart)
        told = self._told(calibrator)
        with Journal(part / JOURNAL, told, lambda about: report({**about, "skipped": True})) as journal:
            solver = Solver(calibrator, video=self.options.video)
            done = journal.num_entries
            # A video's state is that of all frames before: they are calibrated again, and not written again.
            first = 0 if self.options.video and done < len(self.plan) else done
            frames = raw_frames(self.recording, self.chosen, self.survey, self.plan, first)
            wanted = frames if first < len(self.plan) else iter(())
            workers = 1 if self.options.video else num_cores() + 1
            for number, entry in enumerate(in_order(_Work(self, solver), wanted, workers, self._read), first):
                if number >= done:
                    journal.add(entry)
                    report(entry.about)
            if journal.num_entries < len(self.plan):
                raise ContractError(
                    f"{self.recording.path}: read to frame {journal.num_entries} of {len(self.plan)} only "
                    f"({'; '.join(self.recording.faults)}), the first time to the last; these frames are kept: look at "
                    "the disk and give the command again"
                )
            write_recording(journal, self.channels, out, self._copy, self.options.compression)
        shutil.rmtree(part)

    def _read(self, raw: RawFrame) -> tuple[RawFrame, Frame | MracError]:
        try:
            return raw, self.decoder.decode(raw)
        except (MracError, OSError) as error:  # of one frame: the others go on
            return raw, error if isinstance(error, MracError) else ContractError(str(error))

    def _told(self, calibrator: Calibrator) -> dict[str, Any]:
        """Everything that decides the output, as plain values."""
        files = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in self.recording.files]
        config = {name: value for name, value in calibrator.config().items() if name != "cache"}
        options = asdict(self.options)
        pose = options["geometry"].pop("pose")
        options["geometry"]["pose"] = None if pose is None else pose["matrix"].tolist()
        return {
            "input": files,
            "method": config,
            "network": getattr(calibrator.foundation, "identity", None),
            "topics": [self.chosen.image, list(self.chosen.readings), self.chosen.info],
            **options,
            "mrac": __version__,
        }

    def _has_camera(self) -> bool:
        cameras = self.survey.cameras.get(self.chosen.image)
        return cameras is not None and bool(cameras.cameras)


@dataclass(frozen=True, eq=False)
class _Work:
    """What the threads do with a decoded frame."""

    run: BagRun
    solver: Solver
    classes: RosbagsClasses = field(default_factory=RosbagsClasses)

    def __call__(self, raw: RawFrame, frame: Frame | MracError) -> Entry:
        seconds, nanoseconds = divmod(raw.stamp_ns, 1_000_000_000)
        about: dict[str, Any] = {"frame": f"{seconds}.{nanoseconds:09d}", "log_ns": raw.image.log_ns}
        header = header_message(self.classes, raw.stamp_ns, self.run.recording.header(raw.image).frame)
        try:
            if isinstance(frame, MracError):
                raise frame
            result = self.solver(frame)
        except MracError as error:
            text = " ".join(str(error).split())
            return Entry(
                {**about, "error": text}, self._stored({"diagnostics": failure_message(self.classes, header, text)})
            )
        kept = int(result.anchors.keep.sum())
        about |= {
            "status": result.status,
            "kept": kept,
            "rejected": len(result.anchors) - kept,
            "depth_m": [float(result.depth_m.min()), float(result.depth_m.max())],
            "warnings": [warning.name for warning in result.warnings],
        }
        return Entry(
            about, self._stored(solved_messages(self.classes, header, frame, result, self.run.options.cloud_stride))
        )

    def _stored(self, messages: dict[str, Any]) -> list[tuple[str, bytes]]:
        store = self.classes.typestore
        return [
            (_topic(self.run.options.prefix, name), bytes(store.serialize_cdr(message, OUTPUTS[name][0])))
            for name, message in messages.items()
        ]


def checked_output(out: Path, recording: Recording, restart: bool) -> Path:
    """The folder for what is not finished yet.

    Raises:
        ContractError: the output is there already, is the input, or does not end in .mcap.
    """
    if out.suffix.lower() != ".mcap":
        raise ContractError(f"--out {out}: a file that ends in .mcap is needed")
    if out.resolve() in {path.resolve() for path in (recording.path, *recording.files)}:
        raise ContractError(f"--out {out} would overwrite the input; choose another name")
    part = out.with_name(f"{out.name}.part")
    if restart:
        shutil.rmtree(part, ignore_errors=True)
    elif out.exists() and not (part / JOURNAL).exists():
        shutil.rmtree(part, ignore_errors=True)  # of a run that was killed while it took its journal away
        raise ContractError(f"--out {out} is there already; --restart writes it anew, or choose another name")
    return part


def _topic(prefix: str, name: str) -> str:
    return f"/{prefix.strip('/')}/{name}".replace("//", "/")
