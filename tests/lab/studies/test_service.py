"""The study of the service, small: every answer intended, every result the library's."""

from mrac.lab.studies.service import frames, garbage, memory, serving, throughput


def test_a_small_wave_and_a_round() -> None:
    made = frames(2, sizes=((120, 80), (96, 64)), methods=("cfa_huber",))
    with serving("--max-waiting", "60", "--method", "cfa_huber") as (url, process):
        waves = memory(url, process, made, 1, 36)
        speed = throughput(url, process, made, 1, 4, 2)
    assert sum(waves["answers"].values()) == 36
    assert waves["answers"]["equal"] == 24
    assert set(waves["answers"]) == {"equal", "refused 400", "refused 413", "refused 415"}
    assert speed["median_ratio"] > 0.0
    assert {garbage(i, made[0])[1] for i in range(12)} == {400, 413, 415}


def test_a_frame_s_result_is_of_its_own() -> None:
    made = frames(3, sizes=((96, 64),), methods=("nearest",))
    assert len({good.depth_m for good in made}) == 3
