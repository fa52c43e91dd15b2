import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import ContractError
from mrac.lab.data import datasets_in
from mrac.lab.data.manifest import Manifest, by_set, read_manifest, rules_of
from tests.lab.layouts import manifest

PACKS = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data"))
PACK = PACKS / "eval"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Image.fromarray(np.zeros((2, 3, 3), np.uint8)).save(tmp_path / "a.png")
    Image.fromarray(np.array([[0, 256, 512]] * 2, np.uint16)).save(tmp_path / "k.png")
    Image.fromarray(np.array([[0, 1, 255]] * 2, np.uint8)).save(tmp_path / "n.png")
    (tmp_path / "manifest.csv").write_text(
        "set,id,rgb,gt,gt_scale,gt_offset,sensor\nkitti15,7,a.png,k.png,0.00390625,0,\nnyu,8,a.png,n.png,0.04,0.5,\n"
    )
    return tmp_path


def test_decodes_both_encodings(folder: Path) -> None:
    kitti, nyu = read_manifest(folder)
    np.testing.assert_allclose(kitti.depth_m("gt")[0], [0, 1, 2])
    np.testing.assert_allclose(nyu.depth_m("gt")[0], [0.02, 0.06, 10.22], rtol=1e-6)
    assert kitti.image().shape == (2, 3, 3)
    assert [f.name for f in read_manifest(folder, "nyu")] == ["nyu/8"]


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    (frame, _) = read_manifest(folder)
    with pytest.raises(ContractError, match="kitti15/7 has no 'sensor'"):
        frame.depth_m("sensor")
    with pytest.raises(ContractError, match=r"no .*nowhere/manifest\.csv"):
        next(read_manifest(tmp_path / "nowhere"))
    (tmp_path / "manifest.csv").write_text("set,id\nnyu,1\n")
    with pytest.raises(ContractError, match="no column 'rgb'"):
        next(read_manifest(tmp_path))


@pytest.mark.skipif(not PACK.is_dir(), reason="the real data pack is not beside this checkout")
def test_the_real_pack() -> None:
    frame = next(read_manifest(PACK, "nyu"))
    depth_m = frame.depth_m("gt")
    assert frame.image().shape[:2] == depth_m.shape == (480, 640)
    assert 0.5 < np.median(depth_m) < 10


def test_every_set_is_a_dataset_with_its_own_rules(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    street, nyu = datasets_in(tmp_path)
    assert [(one.name, one.seed_name, len(one)) for one in (street, nyu)] == [
        ("street", "street", 2),
        ("nyu", "nyu", 1),
    ]
    assert (street.rules.crop, street.rules.max_depth_m, street.rules.max_range_m) == ("none", 80.0, 80.0)
    assert (nyu.rules.crop, nyu.rules.max_depth_m, nyu.rules.max_range_m) == ("nyu", 10.0, 10.0)
    other = Manifest(tmp_path, "street", crop="garg", max_depth_m=50.0, max_range_m=25.0)
    assert (other.rules.crop, other.rules.max_depth_m, other.rules.max_range_m) == ("garg", 50.0, 25.0)


def test_dropouts_say_10_m_indoors_and_80_m_outdoors() -> None:
    ranges = {
        name: rules_of(name).max_range_m for name in ("nyu", "sunrgbd", "tum", "cleargrasp", "prior_da", "kitti15")
    }
    assert ranges == {"nyu": 10, "sunrgbd": 10, "tum": 10, "cleargrasp": 10, "prior_da": 10, "kitti15": 80}


def test_readings_of_a_coarser_sensor_lie_at_the_centres_of_its_pixels(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    sample = Manifest(tmp_path, "street")[0]
    assert sample.sources == ("sensor", "aux")
    readings = sample.readings("sensor")
    assert set(readings.uv_px[:, 0]) <= {1.5 + 4 * i for i in range(8)}
    u, v = ((readings.uv_px - 1.5) / 4).astype(int).T
    np.testing.assert_allclose(readings.z_m, sample.truth_m[::4, ::4][v, u] / 2, atol=1 / 256)
    stereo = sample.readings("aux")
    np.testing.assert_array_equal(stereo.uv_px, [[1.5, 2.0], [30.0, 3.0]])
    np.testing.assert_array_equal(stereo.z_m, [4.0, 5.0])


def test_which_set_must_be_plain(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    for name in ("", "kitti15"):
        with pytest.raises(ContractError, match=f"set_name = '{name}'; one of street, nyu is needed"):
            len(Manifest(tmp_path, name))
    lines = (tmp_path / "manifest.csv").read_text().splitlines()
    (tmp_path / "manifest.csv").write_text("\n".join(lines[:2]))
    assert Manifest(tmp_path).name == "street"
    (tmp_path / "manifest.csv").write_text("\n".join([*lines[:2], lines[1]]))
    with pytest.raises(ContractError, match="two rows of street have one id"):
        len(Manifest(tmp_path))


def test_a_training_pack_has_its_truth_in_another_column(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    text = (tmp_path / "manifest.csv").read_text()
    evaluated = Manifest(tmp_path, "street")[0].truth_m
    (tmp_path / "manifest.csv").write_text(text.replace("gt,gt_scale,gt_offset", "depth,depth_scale,depth_offset"))
    np.testing.assert_array_equal(Manifest(tmp_path, "street")[0].truth_m, evaluated)


def test_depth_of_another_size_than_the_image_is_refused(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    Image.fromarray(np.ones((24, 31), np.uint16)).save(tmp_path / "street" / "0_gt.png")
    with pytest.raises(ContractError, match=r"the image of 000 is 32 × 24 pixels, its depth \(31, 24\)"):
        _ = Manifest(tmp_path, "street")[0].truth_m


# Per set: frames, the first of every tenth of which are decoded, and bounds of truth by share and median depth.
SETS = {
    "eval": {
        "nyu": (435, (1.0, 1.0), (1.0, 5.0)),
        "kitti15": (43, (0.1, 0.3), (5.0, 25.0)),
        "tum": (47, (0.5, 0.99), (0.5, 3.0)),
        "sunrgbd": (15, (0.5, 0.99), (1.0, 5.0)),
        "cleargrasp": (2, (0.5, 0.99), (0.3, 1.0)),
        "prior_da": (1, (0.9, 1.0), (1.0, 5.0)),
    },
    "train": {
        "nyu": (795, (1.0, 1.0), (1.0, 5.0)),
        "kitti15": (41, (0.1, 0.3), (5.0, 25.0)),
        "kitti_seq": (39, (0.02, 0.06), (3.0, 20.0)),
    },
}


@pytest.mark.skipif(not PACK.is_dir(), reason="the real data pack is not beside this checkout")
@pytest.mark.parametrize("pack", SETS)
def test_the_sets_of_the_real_packs(pack: str) -> None:
    found = {dataset.name: dataset for dataset in datasets_in(PACKS / pack)}
    assert {name: len(dataset) for name, dataset in found.items()} == {
        n: count for n, (count, _, _) in SETS[pack].items()
    }
    for name, dataset in found.items():
        _, share, median = SETS[pack][name]
        picked = [dataset[i] for i in range(0, len(dataset), -(-len(dataset) // 6))]
        shares = [float(np.isfinite(sample.truth_m).mean()) for sample in picked]
        assert share[0] <= np.mean(shares) <= share[1], (name, shares)
        depths = np.concatenate([sample.truth_m[sample.scored] for sample in picked])
        assert median[0] < np.median(depths) < median[1], (name, np.median(depths))
        assert depths.min() > 0.1
        for sample in picked:
            assert sample.sources == {
                "kitti15": ("sensor", "aux"),
                "cleargrasp": ("sensor",),
                "prior_da": ("sensor",),
            }.get(name if pack == "eval" else "", ())


@pytest.mark.skipif(not PACK.is_dir(), reason="the real data pack is not beside this checkout")
@pytest.mark.parametrize(("name", "source"), [("kitti15", "sensor"), ("kitti15", "aux"), ("prior_da", "sensor")])
def test_real_readings_mostly_agree_with_the_truth_at_their_pixel(name: str, source: str) -> None:
    sample = Manifest(PACK, name)[0]
    readings = sample.readings(source)
    u, v = np.rint(readings.uv_px).astype(int).T
    error = np.abs(readings.z_m / sample.truth_m[v, u] - 1)
    error = error[np.isfinite(error)]
    assert error.size > 300
    assert np.median(error) < 0.03
    # A transposed or shifted map would be wrong at most pixels, not at a few.
    assert 0 < (error > 0.1).mean() < 0.25


@pytest.mark.skipif(not (PACKS / "wild").is_dir(), reason="the real data pack is not beside this checkout")
def test_the_pack_for_evaluation_alone_is_read() -> None:
    (dataset,) = datasets_in(PACKS / "wild")
    assert (dataset.name, len(dataset)) == ("tabletop", 35)
    sample = dataset[0]
    assert sample.truth_m.shape == sample.image.shape[:2]
    assert 0.2 < np.nanmedian(sample.truth_m) < 3.0


def test_behind_the_last_frame_comes_the_first(tmp_path: Path) -> None:
    manifest.write(tmp_path)
    street, nyu = datasets_in(tmp_path)
    assert street[0].next.id == street[1].id
    assert street[1].next.id == street[0].id
    assert nyu[0].next.id == nyu[0].id


@pytest.mark.parametrize("name", ["../secret.png", "/etc/hostname", "a/../../secret.png"])
def test_a_manifest_cannot_name_files_outside_its_folder(name: str, tmp_path: Path) -> None:
    """Before, it was read."""
    folder = tmp_path / "set"
    folder.mkdir()
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "secret.png")
    (folder / "manifest.csv").write_text(f"set,id,rgb,gt,gt_scale,gt_offset\nx,1,{name},{name},1,0\n")
    (frame,) = read_manifest(folder)
    with pytest.raises(ContractError, match=r"manifest\.csv: x/1: names .*outside its folder"):
        frame.image()
    with pytest.raises(ContractError, match="outside its folder"):
        frame.depth_m("gt")


@pytest.mark.parametrize("cells", [b"x,1,\xff\xfe\x00", b"x,1", b"x,1,a,b,c\n", b'x,1,"' + b"a" * 200_000])
def test_a_broken_manifest_is_named(cells: bytes, tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_bytes(b"set,id,rgb\n" + cells)
    with pytest.raises(ContractError, match=r"manifest\.csv"):
        list(read_manifest(tmp_path))


def test_frames_of_each_set_keep_their_order(folder: Path) -> None:
    kitti, nyu = read_manifest(folder)
    assert by_set(iter([nyu, kitti, nyu])) == {"nyu": [nyu, nyu], "kitti15": [kitti]}
    assert list(by_set([nyu, kitti])) == ["nyu", "kitti15"]
