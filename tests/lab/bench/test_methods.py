import numpy as np
import pytest

from mrac import Anchors, registry
from mrac.errors import ContractError
from mrac.lab.bench.methods import calibrate_all, parse_method, split_methods

IMAGE = np.zeros((8, 8, 3), np.uint8)
ANCHORS = Anchors([[1, 1], [5, 5], [3, 6]], [1, 2, 3])


@pytest.mark.parametrize("name", registry.names("method"))
def test_every_method_is_one(name: str) -> None:
    assert parse_method(name).text == name


def test_stages_take_the_place_of_the_method_s() -> None:
    spec = parse_method("mrac_b_prime;gate=theil_sen_mad:kappa=3;foundation=none")
    calibrator = spec.calibrator()
    assert spec.text == "mrac_b_prime;foundation=none;gate=theil_sen_mad:kappa=3"
    assert (calibrator.method, calibrator.gate.kappa, calibrator.space) == ("mrac_b_prime", 3, "depth")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nope", "there is no 'nope'; known: b_prime"),
        ("mrac;gates=none", "has 'gates=none'; stage=spec is needed, the stage one of foundation, gate"),
        ("mrac;gate", "has 'gate'"),
        ("mrac;gate=", "has 'gate='"),
    ],
)
def test_slips_are_named(text: str, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        parse_method(text)


def test_commas_between_options_do_not_separate_methods() -> None:
    assert split_methods("a, b;gate=x:k=1,l=2;fit=y:m=3 ,c,") == ["a", "b;gate=x:k=1,l=2;fit=y:m=3", "c"]
    assert split_methods("") == []


def test_a_failure_takes_the_place_of_the_answer() -> None:
    calibrator = parse_method("cfa_ols;foundation=none").calibrator()
    outside = Anchors([[-5, 1]], [1.0])
    good, bad, again = calibrate_all(calibrator, IMAGE, None, [ANCHORS, outside, ANCHORS])
    assert isinstance(bad, ContractError)
    assert not isinstance(good, Exception)
    assert not isinstance(again, Exception)


def test_a_method_that_takes_a_batch_is_given_all_at_once() -> None:
    class Batched:
        def all_conditions(self, image: object, anchors: list[Anchors], relative: object) -> list[str]:
            return [f"{len(one)} of {len(anchors)}" for one in anchors]

    results: list[object] = list(calibrate_all(Batched(), IMAGE, None, [ANCHORS, ANCHORS]))
    assert results == ["3 of 2", "3 of 2"]


def test_a_fault_is_part_of_the_name_and_not_of_the_calibrator() -> None:
    spec = parse_method("default;fault=upside_down;gate=none")
    assert spec.text == "default;gate=none;fault=upside_down"
    assert spec.fault == "upside_down"
    assert parse_method("default").fault == ""
    assert spec.calibrator().method == "default"
    with pytest.raises(ContractError, match=r"unknown fault; known: white_noise, .*constant"):
        parse_method("default;fault=cracked")
