"""Who is run on a device, and what becomes of a device that fails."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mrac import Calibrator
from mrac.errors import MissingExtra
from mrac.head.base import HeadResult, Scene
from mrac.lab.bench.device import Batched, on_device
from mrac.lab.bench.protocol import Protocol
from mrac.lab.bench.score import score_image
from mrac.lab.bench.work import sets_in
from tests.lab.bench.device.conditions import TORCH_ON_CPU, drawn, made

LEARNED = ("vanilla", "mrac_b_prime", "raw_depth", "sml_retrained")
OTHERS = ("cfa_ols", "default", "vi_depth_ga")


@pytest.mark.parametrize("method", [*LEARNED, *OTHERS])
def test_networks_go_to_the_device_and_nothing_else_does(method: str) -> None:
    calibrator = Calibrator(method)
    assert on_device(calibrator, "cpu") is calibrator
    there = on_device(calibrator, TORCH_ON_CPU)
    assert isinstance(there, Batched) == (method in LEARNED)
    assert (there is calibrator) == (method in OTHERS)


def test_who_does_not_ask_for_a_device_needs_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("mrac.lab.bench.device.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    for method in LEARNED:
        calibrator = Calibrator(method)
        assert on_device(calibrator, "cpu") is calibrator
        with pytest.raises(MissingExtra, match=r"bench --device cuda: .* pip install \"mrac-depth\[torch\]\""):
            on_device(calibrator, "cuda")


def test_a_device_that_fails_stops_the_run() -> None:
    def full(scenes: Sequence[Scene]) -> list[HeadResult]:
        raise RuntimeError("CUDA out of memory.\nTried to allocate")

    image, relative = made((20, 30))
    batched = Batched(Calibrator("vanilla"), full)
    with pytest.raises(OSError, match=r"the device failed \(CUDA out of memory\.\); fewer --workers"):
        batched.all_conditions(image, [drawn(relative, 5)], relative)


def test_rows_are_those_of_the_cpu_to_four_digits(pack: Path, make_protocol: Callable[..., Protocol]) -> None:
    sample = sets_in(pack)["room"][0]
    protocol = make_protocol(methods=["vanilla", "mrac", "cfa_ols"], families=["near"], fractions=[0.0, 0.2])
    cells = protocol.cells()
    plain, there = (score_image(sample, protocol, cells, device) for device in ("cpu", TORCH_ON_CPU))
    for one, other in zip(plain, there, strict=True):
        assert one.keys() == other.keys()
        assert other["time_ms"] > 0
        for name in one.keys() - {"time_ms"}:
            wanted = pytest.approx(one[name], rel=1e-4, abs=2e-3) if isinstance(one[name], float) else one[name]
            assert other[name] == wanted, name
        if one["method"] == "cfa_ols":
            assert {**one, "time_ms": 0} == {**other, "time_ms": 0}
