"""VI-Depth as a head on checkpoints in the published layout, which torch reads."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from mrac import Anchors, Calibrator, ContractError
from mrac.vi_depth.alignment import align, readings_on_pixels
from mrac.vi_depth.checkpoint import load_learner
from mrac.vi_depth.network import predict_scale
from mrac.vi_depth.predictors import predictor
from mrac.vi_depth.ranges import VOID
from mrac.vi_depth.refinement import refine
from mrac.vi_depth.scale_map import scale_map
from tests.conftest import MadeScene
from tests.networks.learners import hollow_state, lightning, random_state

PREDICTOR = "dpt_swin2_large_384"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("vi_depth")
    path = folder / predictor(PREDICTOR).learner_file(150)
    torch.save(lightning(random_state()), path)
    yield folder
    path.unlink()  # 85 MB, and pytest keeps folders


class TestThePublishedLayout:
    """Must show 5: official names and shapes, random values, through the method `vi_depth`."""

    @staticmethod
    def frame(make_scene: Callable[..., MadeScene]) -> tuple[MadeScene, Anchors]:
        made = make_scene(200, (120, 160))
        z_m = made.anchors.z_m * np.random.default_rng(1).uniform(0.9, 1.1, len(made.anchors))
        return made, Anchors(made.anchors.uv_px, z_m)

    def test_runs_end_to_end(
        self, published: Path, make_scene: Callable[..., MadeScene], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MRAC_VI_DEPTH", str(published))
        made, anchors = self.frame(make_scene)
        out = Calibrator("vi_depth")(made.image, anchors, relative=made.relative)
        assert out.status == "ok"
        assert out.stages["head"] == "sml"
        readings = readings_on_pixels(anchors.uv_px, anchors.z_m, (120, 160), VOID)
        aligned = align(made.relative.values, readings, VOID)
        scales = scale_map(aligned.inv_z_per_m, readings)
        assert scales.unit is not None
        network = load_learner(published / predictor(PREDICTOR).learner_file(150))
        inv_z_per_m = refine(
            aligned.inv_z_per_m,
            scales.unit,
            predictor(PREDICTOR).standardisation(150),
            VOID,
            partial(predict_scale, network),
        )
        np.testing.assert_allclose(out.depth_m, VOID.depth_m(inv_z_per_m), rtol=1e-5)
        assert np.abs(out.depth_m * aligned.inv_z_per_m - 1).mean() > 0.01

    @pytest.mark.parametrize("change", ["missing", "extra"])
    def test_one_key_too_few_or_too_many_is_named(
        self, change: str, make_scene: Callable[..., MadeScene], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("MRAC_VI_DEPTH", str(tmp_path))
        state = hollow_state()
        if change == "missing":
            del state["scratch.layer3_rn.weight"]
        else:
            state["scratch.layer5_rn.weight"] = torch.zeros(3)
        torch.save(lightning(state), tmp_path / predictor(PREDICTOR).learner_file(150))
        made, anchors = self.frame(make_scene)
        said = {"missing": "'scratch.layer3_rn.weight' is missing", "extra": "'scratch.layer5_rn.weight' is not part"}
        with pytest.raises(ContractError, match=said[change]):
            Calibrator("vi_depth")(made.image, anchors, relative=made.relative)

    def test_without_its_files_it_says_which_to_get(
        self, make_scene: Callable[..., MadeScene], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("MRAC_VI_DEPTH", str(tmp_path))
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
        made, anchors = self.frame(make_scene)
        with pytest.raises(ContractError, match="hf download Intel/dpt-swinv2-large-384"):
            Calibrator("vi_depth")(made.image, anchors)
        with pytest.raises(ContractError, match=r"Get sml_model.dpredictor.dpt_swin2_large_384.nsamples.150.ckpt from"):
            Calibrator("vi_depth")(made.image, anchors, relative=made.relative)
