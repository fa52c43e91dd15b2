import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mrac.errors import ContractError
from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.provenance import about_run, choices, continued
from mrac.lab.bench.work import sets_in

Make = Callable[..., Protocol]


@pytest.fixture
def about(pack: Path, make_protocol: Make) -> Callable[..., dict[str, Any]]:
    def about(limit: int | None = None, chosen: dict[str, Any] | None = None, **lists: Any) -> dict[str, Any]:
        protocol = make_protocol(**lists)
        sets = {name: one for name, one in sets_in(pack).items() if name in protocol.grids[0]["sets"]}
        made: dict[str, Any] = {"limit": limit, "device": "cpu", "command": "mrac bench run", "chosen": chosen or {}}
        return about_run(protocol, protocol.cells(), sets, **made)

    return about


def test_it_says_what_was_run_and_nothing_of_the_machine_s_name(about: Callable[..., dict[str, Any]]) -> None:
    record = about(limit=2)
    assert record["sets"]["room"]["images"] == 2
    assert len(record["weights"]["vanilla.onnx"]) == len(record["weights"]["consensus_learned.npz"]) == 64
    assert {"mrac", "python", "numpy", "onnxruntime"} <= record["versions"].keys()
    text = json.dumps(record)
    assert os.uname().nodename not in text
    assert str(Path.home()) not in text
    assert "/tmp" not in text


def test_more_methods_and_sets_may_join(about: Callable[..., dict[str, Any]]) -> None:
    first = about(methods=["mrac"], sets=["room"])
    record = continued(first, about(methods=["vanilla"], sets=["street"]))
    assert record["methods"] == ["mrac", "vanilla"]
    assert record["sets"].keys() == {"room", "street"}
    assert record["earlier"][0]["started"] == first["started"]
    assert len(continued(record, first)["earlier"]) == 2
    assert continued(None, first) == first


def test_what_does_not_belong_together_is_refused(about: Callable[..., dict[str, Any]]) -> None:
    first = about()
    for changes, says in (
        ({"limit": 1}, "the images of the set room have changed"),
        ({"weights": {"vanilla.onnx": "00"}}, "the weights vanilla.onnx have changed"),
        ({"rules": "paper"}, "began with --rules own, paper arrived"),
        ({"device": "cuda"}, "began with --device cpu, cuda arrived"),
        ({"protocol": first["protocol"] | {"name": "other"}}, "began with --protocol made, other arrived"),
        ({"protocol": first["protocol"] | {"families": {"near": {"low": 0.1}}}}, "options of the families"),
    ):
        now = about(limit=1) if "limit" in changes else first | changes
        with pytest.raises(ContractError, match=says):
            continued(first, now)


def test_every_call_s_choice_is_kept_and_the_sets_are_those_that_were_there(
    about: Callable[..., dict[str, Any]],
) -> None:
    first = about(chosen={"methods": ["mrac"], "fractions": [0.25]}, sets=["room"])
    both = continued(
        first, about(chosen={"sets": ["street"], "seeds": [1, 2]}, sets=["room"]) | {"sets": {"street": {}}}
    )
    assert choices(both) == [
        {"methods": ("mrac",), "fractions": (0.25,), "sets": ("room",)},
        {"sets": ("street",), "seeds": (1, 2)},
    ]
    assert choices(json.loads(json.dumps(continued(first, first)))) == choices(first)


def test_choices_of_before_they_were_recorded_are_read_from_the_command(about: Callable[..., dict[str, Any]]) -> None:
    methods = "mrac,mrac_b_prime;gate=theil_sen_mad:kappa=3,ratio=2"
    old = about() | {
        "command": f"mrac bench run --protocol made --fractions '0,0.25' --methods '{methods}' --seeds '1'"
    }
    del old["chosen"]
    assert choices(old) == [
        {
            "methods": ("mrac", "mrac_b_prime;gate=theil_sen_mad:kappa=3,ratio=2"),
            "fractions": (0.0, 0.25),
            "seeds": (1,),
            "sets": ("room",),
        }
    ]
    del old["command"]
    assert choices(old)[0]["methods"] == tuple(old["methods"])
