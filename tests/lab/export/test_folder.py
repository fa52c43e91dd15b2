"""`mrac export`: the files in onnxruntime beside the library."""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from PIL import Image

from mrac import Anchors, Calibrator
from mrac.cli import cli
from mrac.errors import ContractError, MissingExtra
from mrac.lab.export.check import check_pipeline, photograph
from mrac.lab.export.folder import export
from mrac.lab.export.pipeline.status import STATUSES
from mrac.lab.export.pipeline.whole import Sizes, pipeline_model

SMALL = Sizes((90, 120), 24)
# More pixels than the heads' networks take, so that they work at a smaller size.
SIZES = Sizes((252, 340), 64)
# One pass of the network, for time; the mirrored one is in `test_other_choices_agree_with_the_library`.
MRAC = Calibrator("mrac", foundation="embedded:mirror=false")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported")
    export(MRAC, path, SIZES)
    return path


@pytest.fixture(scope="module")
def session(folder: Path) -> Any:
    return onnxruntime.InferenceSession(str(folder / "pipeline.onnx"), providers=["CPUExecutionProvider"])


def test_the_manifest_describes_the_files(folder: Path) -> None:
    manifest = json.loads((folder / "export.json").read_text())
    assert {path.name for path in folder.iterdir()} == {*manifest["files"], "export.json", "README.md"}
    for name, about in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == about["sha256"]
        opened = onnxruntime.InferenceSession(str(folder / name))
        assert [one.name for one in opened.get_inputs()] == list(about["inputs"])
        assert [one.name for one in opened.get_outputs()] == list(about["outputs"])
    assert manifest["stages"]["head"]["files"] == ["pipeline.onnx", "head.onnx"]
    assert manifest["stages"]["gate"]["files"] == ["pipeline.onnx"]
    assert manifest["stages"]["gate"]["options"] == {"kappa": 2.0}
    measured = manifest["difference_from_the_library"]
    assert 0.0 < measured["pipeline"]["depth_relative_difference"] < 1e-5
    assert measured["foundation"]["log_depth_difference"] < 1e-5


def test_the_file_itself_says_what_it_is(session: Any) -> None:
    about = session.get_modelmeta().custom_metadata_map
    assert (about["mrac.method"], about["mrac.size"], about["mrac.max_anchors"]) == ("mrac", "252x340", "64")
    assert "metres" in about["mrac.outputs"]


def _unusable(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    rows[1, 0], rows[2, 2], rows[3, 2], rows[4, :2] = np.nan, -1.0, np.inf, (500.0, 10.0)
    return rows


@pytest.mark.parametrize(("num", "spoil"), [(0, False), (1, True), (2, False), (3, True), (30, True)])
def test_scenes_with_few_or_unusable_readings(session: Any, num: int, spoil: bool) -> None:
    scene = photograph(SIZES)
    anchors = scene.anchors.copy()
    if spoil:
        num += 5
        anchors = _unusable(anchors)
        anchors[num:] = np.nan  # what lies beyond the count is not looked at
    depth_m, sigma_m, outlier, status = session.run(
        None, {"image": scene.image, "anchors": anchors, "count": np.array([num])}
    )
    expected = MRAC(scene.image, Anchors(anchors[:num, :2], anchors[:num, 2]))
    np.testing.assert_allclose(depth_m, expected.depth_m, rtol=1e-5)
    np.testing.assert_allclose(sigma_m, expected.sigma_m, rtol=1e-5)
    np.testing.assert_array_equal(outlier[:num], expected.anchors.outlier_probability)
    assert (outlier[num:] == 1.0).all()
    assert STATUSES[int(status[0])] == expected.status


def test_readings_that_cannot_be_used_give_the_prior_and_its_status(session: Any) -> None:
    scene = photograph(SIZES)
    nothing = np.full((SIZES.max_anchors, 3), -5.0, np.float32)
    depth_m, _, outlier, status = session.run(None, {"image": scene.image, "anchors": nothing, "count": np.array([9])})
    expected = MRAC(scene.image, Anchors(np.zeros((0, 2)), np.zeros(0)))
    np.testing.assert_allclose(depth_m, expected.depth_m, rtol=1e-5)
    assert (outlier == 1.0).all()
    assert STATUSES[int(status[0])] == "no_anchors"


@pytest.mark.parametrize(
    "calibrator",
    [
        Calibrator("raw_depth"),
        Calibrator("mrac_b_prime", foundation="embedded:mirror=false", gate="theil_sen_mad:kappa=1"),
        Calibrator("cfa_ols", foundation="embedded:mirror=false", space="log_depth"),
        Calibrator("cfa_ols", foundation="embedded:space=inverse_depth,mirror=false", space="inverse_depth"),
    ],
    ids=repr,
)
def test_other_choices_agree_with_the_library(calibrator: Calibrator) -> None:
    measured = check_pipeline(pipeline_model(calibrator, SMALL), calibrator, SMALL)
    assert measured["depth_relative_difference"] < 1e-5
    assert measured["readings"] > 15


def test_a_graph_that_is_not_the_method_is_refused() -> None:
    model = pipeline_model(Calibrator("cfa_ols"), SMALL)
    with pytest.raises(ContractError, match="differ on the test scene"):
        check_pipeline(model, Calibrator("cfa_ols", gate="theil_sen_mad"), SMALL)


def test_the_lines_of_its_readme_run(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    scene = photograph(SIZES)
    Image.fromarray(scene.image).save(tmp_path / "a.png")
    np.savetxt(tmp_path / "a.csv", scene.anchors[: scene.num_readings], delimiter=",", header="u_px,v_px,z_m")
    (tmp_path / "pipeline.onnx").symlink_to(folder / "pipeline.onnx")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(code, found)
    expected = MRAC(scene.image, scene.readings)
    np.testing.assert_allclose(found["depth_m"], expected.depth_m, rtol=1e-5)


@pytest.mark.parametrize("options", ["precision=int8", "precision=int8,mirror=false"])
def test_a_foundation_of_any_precision_is_written(tmp_path: Path, options: str) -> None:
    exported = export(Calibrator(foundation=f"embedded:{options}"), tmp_path, SMALL, ["foundation"])
    assert exported.check["foundation"]["log_depth_difference"] < 1e-5


def test_a_method_that_is_no_graph_gives_its_foundation_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "pipeline.onnx").write_bytes(b"of an earlier export")
    size = ["--size", "90x120", "--max-anchors", "24"]
    done = CliRunner().invoke(cli, ["export", "--method", "default", "--out", str(tmp_path), *size])
    assert done.exit_code == 0, done.output
    assert "no pipeline.onnx: gate consensus_learned is not written as a graph" in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "export.json", "foundation.onnx"]
    manifest = json.loads((tmp_path / "export.json").read_text())
    assert manifest["stages"]["foundation"]["files"] == ["foundation.onnx"]
    assert manifest["stages"]["head"]["files"] == []
    assert "kriging" in manifest["stages"]["head"]["not_in_a_graph"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "default", "--part", "pipeline"], "default cannot be one ONNX graph: gate consensus_learned"),
        (["--method", "cfa_ols", "--part", "head"], "cfa_ols has no head that is a network file"),
        (["--method", "nearest"], "nearest cannot be one ONNX graph"),
        (["--method", "mrac", "--size", "480"], "is not HEIGHTxWIDTH"),
        (["--method", "nothing"], "there is no 'nothing'"),
    ],
)
def test_what_cannot_be_written_is_an_error(tmp_path: Path, words: list[str], message: str) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["export", "--out", str(out), *words])
    assert message in (done.output + str(done.exception))
    assert done.exit_code != 0
    assert not out.exists()


def test_without_onnx_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = CliRunner().invoke(cli, ["export", "--out", str(tmp_path)])
    assert isinstance(done.exception, MissingExtra)
    assert "mrac-depth[lab]" in str(done.exception)
