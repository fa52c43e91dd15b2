import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mrac import Anchors, Calibrator
from mrac.batch_jobs import run as run_module
from mrac.batch_jobs.executors import Resources
from mrac.batch_jobs.job import Frame, Job, Outcome
from mrac.batch_jobs.manifest import held, read_manifest
from mrac.batch_jobs.readings import Readings
from mrac.batch_jobs.run import Summary, list_frames, make_job, run_job
from mrac.batch_jobs.stages import perform
from mrac.errors import ContractError
from mrac.io.image import read_image
from tests.mrac.batch_jobs.frames import small_job, write_frame, write_frames


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes have their own test, in tests/lab."""

    def execute(job: Job, frames: Sequence[Frame], resources: Resources) -> Iterator[Outcome]:
        return (perform(job, frame) for frame in frames)

    monkeypatch.setattr(run_module, "executor", lambda name: execute)


def done(job: Job, folder: Path) -> Summary:
    return run_job(job, list_frames([folder]), "local", Resources(workers=1))


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_result_has_the_bytes_of_save(tmp_path: Path) -> None:
    frames = write_frames(tmp_path / "frames", 1)
    job = small_job(tmp_path / "out")
    assert done(job, frames).actions == {"computed": 1}
    calibrator = Calibrator.from_config(json.loads(job.config))
    calibrator(read_image(frames / "f000.png"), Anchors.from_csv(frames / "f000.csv")).save(tmp_path / "one.npz")
    assert (tmp_path / "out" / "f000.npz").read_bytes() == (tmp_path / "one.npz").read_bytes()


def test_what_is_committed_is_kept_and_what_is_damaged_is_made_anew(tmp_path: Path) -> None:
    frames, out = write_frames(tmp_path / "frames", 5), tmp_path / "out"
    write_frame(frames, "sub/x", 99)
    assert done(small_job(out), frames).actions == {"computed": 6}
    before = files(out)
    assert done(small_job(out), frames).actions == {"kept": 6}
    flipped = bytearray(before["f001.npz"])
    flipped[len(flipped) // 2] ^= 1  # of the same size
    (out / "f001.npz").write_bytes(flipped)
    (out / "f002.npz").write_bytes(before["f002.npz"][:-9])
    (out / "sub" / "x.npz").unlink()
    assert done(small_job(out, check="size"), frames).actions == {"repaired": 2, "kept": 4}
    assert done(small_job(out), frames).actions == {"repaired": 1, "kept": 5}
    assert files(out) == before


def test_only_what_changed_is_computed_again(tmp_path: Path) -> None:
    frames, out = write_frames(tmp_path / "frames", 4), tmp_path / "out"
    done(small_job(out), frames)
    (frames / "f000.csv").write_text((frames / "f000.csv").read_text() + "1,1,2.5\n")
    (frames / "f001.png").write_bytes((frames / "f002.png").read_bytes())
    assert done(small_job(out), frames).actions == {"computed": 2, "kept": 2}
    assert done(small_job(out, gate="range"), frames).actions == {"computed": 4}
    fresh = tmp_path / "fresh"
    done(small_job(fresh, gate="range"), frames)
    assert files(out) == files(fresh)


def test_a_run_that_was_stopped_goes_on_and_its_manifest_is_that_of_one_run(tmp_path: Path) -> None:
    frames, out = write_frames(tmp_path / "frames", 6), tmp_path / "out"

    def stop(outcome: Outcome) -> None:
        if outcome.record.id == "f002":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_job(small_job(out), list_frames([frames]), "local", Resources(workers=1), stop)
    with held(out):
        assert sorted(read_manifest(out)) == ["f000", "f001", "f002"]
    assert done(small_job(out), frames).actions == {"kept": 3, "computed": 3}
    done(small_job(tmp_path / "once"), frames)
    assert files(out) == files(tmp_path / "once")


def test_a_kill_between_record_and_file_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames, out = write_frames(tmp_path / "frames", 1), tmp_path / "out"

    class Killed(BaseException):
        pass

    original = Path.replace

    def replace(part: Path, target: Path) -> Path:
        if part.name.startswith("."):  # by `write_whole`, within the commit
            return original(part, target)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(Killed):
            done(small_job(out), frames)
    assert list(read_manifest(out)) == ["f000"]
    assert done(small_job(out), frames).actions == {"repaired": 1}
    assert set(files(out)) == {"f000.npz", "manifest.jsonl"}


def test_failures_are_recorded_and_tried_again(tmp_path: Path) -> None:
    frames, out = write_frames(tmp_path / "frames", 3), tmp_path / "out"
    good = (frames / "f001.png").read_bytes()
    (frames / "f001.png").write_bytes(good[:50])
    (frames / "alone.png").write_bytes(good)
    found = done(small_job(out), frames)
    assert found.actions == {"computed": 2, "failed": 2}
    assert [record.id for record in found.failures] == ["alone", "f001"]
    (record,) = read_manifest(out)["f001"]
    assert record.status == "failed"
    assert "not a readable image" in record.error
    (frames / "f001.png").write_bytes(good)
    (frames / "alone.png").unlink()
    assert done(small_job(out), frames).actions == {"computed": 1, "kept": 2}


def test_ids_are_checked(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_frames(tmp_path / name, 2)
    both = list_frames([tmp_path / "one", tmp_path / "two"])
    assert [frame.id for frame in both] == ["one/f000", "one/f001", "two/f000", "two/f001"]
    with pytest.raises(ContractError, match="2 frames have the id"):
        list_frames([tmp_path / "one", tmp_path / "one"])
    with pytest.raises(ContractError, match="no such file or folder"):
        list_frames([tmp_path / "none"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ContractError, match="no frame inside"):
        list_frames([tmp_path / "empty"])


def test_the_options_of_readings_decide_results(tmp_path: Path) -> None:
    calibrator = Calibrator("cfa_ols", foundation="none")
    camera = tmp_path / "camera.json"
    camera.write_text("{}")
    jobs = [
        make_job(calibrator, tmp_path),
        make_job(calibrator, tmp_path, Readings(scale="mm")),
        make_job(calibrator, tmp_path, Readings(camera=str(camera))),
        make_job(calibrator, tmp_path, format="parquet"),
    ]
    camera.write_text('{"changed": 1}')
    jobs.append(make_job(calibrator, tmp_path, Readings(camera=str(camera))))
    assert len({job.digest for job in jobs}) == 5
    with pytest.raises(ContractError, match="format='zip'"):
        make_job(calibrator, tmp_path, format="zip")
    with pytest.raises(ContractError, match="--camera"):
        make_job(calibrator, tmp_path, Readings(camera=str(tmp_path / "no.json")))
