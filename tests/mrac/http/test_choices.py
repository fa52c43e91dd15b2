"""What a client may choose; nothing that reads a file, loads a network or runs for hours."""

import pytest

from mrac import Calibrator
from mrac.errors import ContractError
from mrac.http import Choices, Offer


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (Choices(foundation="onnx:/etc/passwd"), "foundation: 'onnx'"),
        (Choices(foundation="precomputed:/etc/passwd"), "foundation: 'precomputed'"),
        (Choices(foundation="hf:some/model"), "foundation: 'hf'"),
        (Choices(foundation="dav2-small"), "foundation: 'dav2-small'"),
        (Choices(foundation="embedded:path=/etc/passwd"), "'path' is not for clients"),
        (Choices(foundation="embedded:/etc/passwd"), "not for clients"),
        (Choices(head="residual_unet:weights=/etc/passwd"), "'weights' is not for clients"),
        (Choices(gate="ransac:trials=1000000000"), "'trials' is not for clients; free are threshold"),
        (Choices(gate="none:x=1"), "none is"),
        (Choices(gate="nope"), "gate: 'nope'"),
        (Choices(method="open"), "method: 'open'"),
        (Choices(method="../x"), "method: '../x'"),
        (Choices(space="pixels"), "space"),
        (Choices(gate="theil_sen_mad:kappa=nan"), "kappa"),
    ],
)
def test_other_choices_are_refused(choices: Choices, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        Offer().calibrator(choices)


def test_free_choices_are_those_of_the_library() -> None:
    made = Offer().calibrator(Choices(method="mrac", gate="theil_sen_mad:kappa=3", foundation="none"))
    own = Calibrator("mrac", gate="theil_sen_mad:kappa=3", foundation="none")
    assert repr(made) == repr(own)
    assert made is Offer().calibrator(Choices(method="mrac", gate="theil_sen_mad:kappa=3", foundation="none"))


def test_the_server_s_own_method_and_network_are_offered() -> None:
    assert Offer().methods()[0] == "default"
    assert "open" not in Offer().methods()
    own = Offer(method="open", foundation="none")
    assert own.methods()[0] == "open"
    assert repr(own.calibrator(Choices())) == repr(Calibrator("open", foundation="none"))
