import subprocess
import sys

import pytest

from mrac import ContractError, registry
from mrac.gate.theil_sen_mad import TheilSenMad


def test_names_come_from_the_folder() -> None:
    ours = ["consensus", "consensus_learned"]
    assert registry.names("gate") == [*ours, "gnc", "msac", "none", "range", "ransac", "siegel_mad", "theil_sen_mad"]
    assert registry.names("fit") == ["evidence", "gnc", "huber", "msac", "ols", "ransac", "theil_sen", "truncated_l1"]
    assert {"affine", "kriging"} <= set(registry.names("head"))
    assert {"none", "precomputed", "onnx"} <= set(registry.names("foundation"))
    assert {"cfa_ols", "cfa_huber", "cfa_ransac", "default"} <= set(registry.names("method"))
    assert {"diode", "kitti", "manifest", "nyuv2", "sunrgbd"} <= set(registry.names("dataset"))
    assert {"dropout", "mixed_pixel", "near", "uniform"} <= set(registry.names("outlier"))
    assert {"farthest_point", "random", "stratified", "uncertainty_active"} <= set(registry.names("placement"))


@pytest.mark.parametrize("stage", registry.KINDS)
def test_everything_has_a_summary(stage: str) -> None:
    for name in registry.names(stage):
        assert len(registry.summary(stage, name)) > 10


def test_listing_imports_no_implementation() -> None:
    code = (
        "import sys; from mrac import registry; "
        "[registry.summary(s, n) for s in registry.KINDS for n in registry.names(s)]; "
        "print([m for m in ('numba', 'scipy', 'onnxruntime', 'torch', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_options() -> None:
    assert registry.create("gate", "theil_sen_mad:kappa=3") == TheilSenMad(kappa=3)
    assert registry.create("fit", "ransac:trials=7,seed=2").trials == 7
    assert registry.create("foundation", "onnx:a/b=c,d.onnx").path == "a/b=c,d.onnx"
    assert registry.create("foundation", "precomputed:path=a.npy,space=depth").space == "depth"


def test_short_names_stand_for_specs() -> None:
    large = registry.create("foundation", "dav2-large:device=cpu,resize=original")
    assert large.model == "depth-anything/Depth-Anything-V2-Large-hf"
    assert (large.device, large.resize) == ("cpu", "original")
    for name, entry in registry.catalog("foundation").items():
        made, (kind, _, model) = registry.create("foundation", name), entry.spec.partition(":")
        assert name not in registry.names("foundation")
        assert registry.stage_name(made) == kind
        assert getattr(made, "model", "") == model
    assert registry.catalog("gate") == {}


@pytest.mark.parametrize(
    ("stage", "spec", "says"),
    [
        ("gate", "nope", r"there is no 'nope'; known: consensus, consensus_learned, gnc, msac, none, range"),
        ("gate", "none:x=1", "it takes none"),
        ("gate", "theil_sen_mad:3", "known: kappa"),
        ("gate", "theil_sen_mad:sigma=3", "known: kappa"),
        ("gate", "theil_sen_mad:kappa=wide", "'wide' is not a number"),
        ("foundation", "onnx", "onnx: path is needed: onnx:PATH"),
        ("foundation", "hf:", "hf: model is needed: hf:MODEL"),
        ("foundation", "embedded:miror=0", "no option 'miror'; known: path, mirror"),
        ("foundation", "embedded:a/net.onnx,mirror=0", "embedded:path=a/net.onnx,mirror=0"),
        ("foundation", "dav2-huge", "short names that `mrac list foundations` shows"),
        ("foundation", "dav2-large:size=3", "known: model, resize"),
        ("foundation", "dav2-large:my/own", "known: model, resize"),
        ("foundation", "hf:some/one,resize=original", "hf:model=some/one,resize=original"),
        ("stages", "none", "is not a stage"),
    ],
)
def test_mistakes_are_named(stage: str, spec: str, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        registry.create(stage, spec)
