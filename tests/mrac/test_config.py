import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import Calibrator, ContractError, registry
from mrac.config import read_config, write_config
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.runtime.cache import PredictionCache
from tests.conftest import MadeScene

PLAIN = st.one_of(st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False), st.text(max_size=8))
TABLES = st.dictionaries(
    st.text(min_size=1, max_size=6),
    st.one_of(PLAIN, st.lists(PLAIN, max_size=3), st.dictionaries(st.text(max_size=4), PLAIN, max_size=3)),
    max_size=4,
)


@pytest.mark.parametrize("method", registry.names("method"))
@pytest.mark.parametrize("ending", ["", ".json", ".toml"])
def test_every_method_comes_back_as_it_was(method: str, ending: str, tmp_path: Path) -> None:
    made = Calibrator(method)
    config: Any = made.config()
    assert json.loads(json.dumps(config)) == config, "plain values"
    if ending:
        made.save_config(tmp_path / f"a{ending}")
        config = str(tmp_path / f"a{ending}")
    again = Calibrator.from_config(config)
    assert again.config() == made.config()
    for stage in ("foundation", "gate", "fit", "head", "space", "method"):
        assert getattr(again, stage) == getattr(made, stage)
    assert repr(again) == repr(made)


def test_options_space_and_cache_come_back_and_the_depth_is_the_same(
    tmp_path: Path, make_scene: Callable[..., MadeScene]
) -> None:
    scene = make_scene()
    made = Calibrator(
        gate=TheilSenMad(kappa=np.float64(2.5)),
        head="kriging:noise=0.1",
        space="inverse_depth",
        cache=PredictionCache(tmp_path / "cache", max_bytes=12345),
    )
    assert repr(made) == (
        "Calibrator('default', foundation='embedded', gate='theil_sen_mad:kappa=2.5', fit='evidence', "
        f"head='kriging:noise=0.1', space='inverse_depth', cache={made.cache!r})"
    )
    made.save_config(tmp_path / "a.toml")
    again = Calibrator.from_config(tmp_path / "a.toml")
    assert again.config() == made.config() == tomllib.loads((tmp_path / "a.toml").read_text())
    assert again.cache is not None
    assert (again.cache.folder, again.cache.max_bytes) == (tmp_path / "cache", 12345)
    one, other = (c(scene.image, scene.anchors, scene.relative) for c in (made, again))
    np.testing.assert_array_equal(one.depth_m, other.depth_m)
    np.testing.assert_array_equal(one.sigma_m, other.sigma_m)
    assert one.options == other.options


def test_a_configuration_by_hand() -> None:
    made = Calibrator.from_config(
        {
            "method": "mrac",
            "gate": "theil_sen_mad:kappa=3",
            "foundation": {"name": "dav2-base", "options": {"dtype": "float32"}},
        }
    )
    assert made.gate == TheilSenMad(kappa=3)
    assert repr(made.foundation).startswith("HuggingFace(model='depth-anything/Depth-Anything-V2-Base-hf'")
    assert made.space == "depth", "the method's"
    assert Calibrator.from_config({}).config() == Calibrator().config()
    assert Calibrator.from_config({"head": None}).config() == Calibrator().config()


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"gates": "none"}, "no entry 'gates'; known: method, foundation, gate"),
        ({"gate": {"name": "nope"}}, "there is no 'nope'"),
        ({"gate": {"name": "ransac", "options": {"kappa": 3}}}, "no option 'kappa'; known: threshold, trials, seed"),
        ({"gate": {"name": "none", "options": {"kappa": 3}}}, "it takes none"),
        ({"gate": {"name": "theil_sen_mad", "options": {"kappa": "3"}}}, "kappa: '3' arrived, float is needed"),
        ({"foundation": {"name": "embedded", "options": {"mirror": 1}}}, "mirror: 1 arrived, bool is needed"),
        ({"gate": {"name": "ransac", "options": {"seed": True}}}, "seed: True arrived, int is needed"),
        ({"foundation": {"name": "onnx"}}, "path is needed"),
        ({"gate": {"kappa": 3}}, '"name": ..., "options"'),
        ({"gate": {"name": "none", "options": 3}}, "options 3 arrived, a table"),
        ({"gate": 3}, "gate: 3 arrived"),
        ({"space": 3}, "space: 3 arrived"),
        ({"space": "metres"}, "'metres' is not a space"),
        ({"cache": {"where": "x"}}, "folder and max_bytes"),
        (3, "int arrived; a dict or a path"),
        ("nowhere.json", "nowhere.json: no such file"),
        ("config.yaml", "ends in '.yaml'; .json or .toml"),
    ],
)
def test_mistakes_are_named(config: Any, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        Calibrator.from_config(config)


@pytest.mark.parametrize(("name", "text"), [("a.json", "{"), ("a.json", "[1]"), ("a.toml", "a = "), ("a.toml", "\xff")])
def test_a_broken_file_is_named(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(ContractError, match=f"config: .*{name}"):
        Calibrator.from_config(tmp_path / name)


def test_what_has_no_name_cannot_be_written() -> None:
    made = Calibrator(gate=lambda samples: samples.z_m > 1)
    assert "gate='lambda'" in repr(made)
    with pytest.raises(ContractError, match=r"the gate lambda .* has no registered name.*entry point"):
        made.config()


@settings(max_examples=60, deadline=None)
@given(TABLES, st.sampled_from([".json", ".toml"]))
def test_any_table_of_plain_values_comes_back(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, Any], ending: str
) -> None:
    finite = json.dumps(table).find("Infinity") < 0
    if ending == ".json" and not finite:
        return
    path = tmp_path_factory.getbasetemp() / f"table{ending}"
    write_config(path, table)
    again = read_config(path)
    assert again == table
    assert json.dumps(again, sort_keys=True) == json.dumps(table, sort_keys=True), "of the same types, too"
