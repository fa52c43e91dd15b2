import asyncio
import io
import json
import runpy
import weakref
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient
from starlette.types import Message

from mrac import Anchors, Calibrator, examples
from mrac.conventions import FloatArray
from mrac.foundation import embedded
from mrac.http import Limits
from mrac.runtime.onnx_session import run_network_twice
from mrac.sfm import read_model
from mrac.web.api import create_api
from mrac.web.catalogue import COLUMNS, example_names
from mrac.web.choices import Menu
from mrac.web.examples import load_example
from mrac.web.recipe import Recipe, readings_of
from mrac.web.scenes import MAX_WORKING_PIXELS, Scene
from mrac.web.workshop import GoneError, Workshop
from tests.mrac.sfm import synthetic
from tests.mrac.web.conftest import Page


def png(width: int = 64, height: int = 48, seed: int = 0) -> bytes:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 255, (6, 8, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(coarse).resize((width, height)).save(file, format="PNG")
    return file.getvalue()


def small_scene() -> Scene:
    image = np.asarray(Image.open(io.BytesIO(png())))
    readings = Anchors([[5, 6], [30, 20], [50, 40], [10, 40], [60, 3]], [1, 2, 3, 1.5, 2.5])
    return Scene.of(image, "small").with_pool(readings, "a.csv", "table")


def test_options_name_all_that_the_page_offers(page: Page) -> None:
    options = page.client.get("/api/options").json()
    assert [one["name"] for one in options["examples"]] == list(example_names())
    assert [one["method"] for one in options["columns"]] == ["vanilla", "mrac", "default"]
    assert {"default", "mrac", "vanilla", "delaunay"} <= {one["name"] for one in options["methods"]}
    assert "vi_depth" not in {one["name"] for one in options["methods"]}  # its network is a download
    assert {"embedded", "none"} <= {one["name"] for one in options["foundations"]}


@pytest.mark.parametrize(
    ("recipe", "arguments"),
    [
        ({"method": "default"}, {}),
        ({"method": "mrac", "kappa": 3.5}, {"method": "mrac", "gate": "theil_sen_mad:kappa=3.5"}),
        ({"method": "vanilla"}, {"method": "vanilla"}),
        ({"method": "default", "foundation": "none"}, {"foundation": "none"}),
    ],
)
def test_a_result_is_the_library_s_to_the_bit(page: Page, recipe: dict[str, str], arguments: dict[str, str]) -> None:
    made = {"num_readings": 50, "family": "near", "share": 0.25, "seed": 4, "clicked": [[100, 120, 2.5]]}
    answer = page.result(page.example()["id"], **made, **recipe)
    readings = readings_of(load_example("room"), Recipe.of({**made, **recipe}))
    frame = examples.load("room")
    out = Calibrator(**arguments)(frame.image, readings.anchors, camera=frame.camera)
    assert np.array_equal(answer.depth_m, out.depth_m)
    assert np.array_equal(answer.sigma_m, out.sigma_m)
    assert answer.summary["readings"]["keep"] == out.anchors.keep.tolist()
    assert answer.summary["readings"]["reason"] == out.anchors.reason.tolist()
    assert answer.summary["status"] == out.status
    assert answer.summary["num_wrong"] == 12
    assert answer.summary["readings"]["clicked"] == [False] * 50 + [True]


def test_three_columns_run_the_network_once(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []

    def counted(path: Path, *given: Any) -> tuple[FloatArray, FloatArray]:
        calls.append(path)
        return run_network_twice(path, *given)  # an image and its mirror image

    monkeypatch.setattr(embedded, "run_network_twice", counted)
    scene = page.upload(png(seed=1))["id"]
    for method, _ in COLUMNS:
        for seed in (0, 1):
            page.result(scene, method=method, clicked=[[5 + seed, 6, 2.0], [30, 20, 3.0], [50, 40, 4.0]])
    assert len(calls) == 1


def test_the_python_lines_of_the_archive_give_the_same_depth(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = page.result(page.example()["id"], method="mrac", kappa=2.5, share=0.3, clicked=[[10, 20, 1.25]])
    packed = page.client.get(f"/api/results/{answer.summary['id']}/mrac-result.zip")
    assert packed.status_code == 200
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        archive.extractall(tmp_path)
    script = (tmp_path / "calibrate.py").read_text()
    assert script == answer.summary["python"]
    stored = np.load(tmp_path / "depth.npz")["depth_m"]
    monkeypatch.chdir(tmp_path)
    ran = runpy.run_path("calibrate.py")
    assert np.array_equal(ran["out"].depth_m, answer.depth_m)
    assert np.array_equal(ran["out"].sigma_m, answer.sigma_m)
    assert np.array_equal(stored, answer.depth_m)
    assert (tmp_path / "points.ply").stat().st_size > 10**6


def test_readings_of_areas_travel_as_arrays(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = page.upload(png(seed=2))["id"]
    zones = json.dumps({"z_m": [1.0 + 0.04 * i for i in range(16)]}).encode()
    sent = page.client.post(
        f"/api/scenes/{scene}/readings", files={"anchors": ("z.json", zones)}, data={"from": "zones"}
    )
    assert sent.status_code == 200, sent.text
    answer = page.result(scene, num_readings=16)
    assert answer.summary["anchors_file"] == "anchors.npz"
    packed = page.client.get(f"/api/results/{answer.summary['id']}/mrac-result.zip")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert "anchors.csv" not in archive.namelist()
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert np.array_equal(runpy.run_path("calibrate.py")["out"].depth_m, answer.depth_m)


def test_every_download_is_offered_and_served(page: Page) -> None:
    answer = page.result(page.upload(png())["id"], clicked=[[5, 6, 2.0], [30, 20, 3.0]])
    for one in page.client.get("/api/options").json()["downloads"]:
        got = page.client.get(f"/api/results/{answer.summary['id']}/{one['name']}")
        assert got.status_code == 200, one
        assert len(got.content) > 30, one
        assert one["name"] in got.headers["content-disposition"]
    assert page.client.get(f"/api/results/{answer.summary['id']}/passwd").status_code == 400


def _npy(values: object) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


def _npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, uv_px=[[5, 6], [30, 20], [50, 40]], z_m=[1.0, 2.0, 3.0])
    return file.getvalue()


def _depth_png(scale: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.full((48, 64), 2 * scale, np.uint16)).save(file, format="PNG")
    return file.getvalue()


_PLY = b"""ply
format ascii 1.0
element vertex 2
property float x
property float y
property float z
end_header
0 0 2
.1 .1 3
"""
_CAMERA = json.dumps({"fx": 60, "fy": 60, "cx": 31.5, "cy": 23.5, "width": 64, "height": 48}).encode()


@pytest.mark.parametrize(
    ("name", "content", "fields", "count"),
    [
        ("a.csv", b"u,v,z_m\n5,6,1.5\n30,20,2\n", {}, 2),
        ("a.npz", _npz(), {}, 3),
        ("a.png", _depth_png(1000), {"anchors_scale": "mm"}, 64 * 48),
        ("d.npy", _npy(np.full((24, 32), 1.5, np.float32)), {"from": "depth"}, 24 * 32),
        ("c.ply", _PLY, {}, 2),
        ("r.json", b"[[5, 6, 1.5], [30, 20, 2.0]]", {}, 2),
        ("a.csv", b"u,v,z\n5,6,1500\n30,20,2000\n", {"sensor": "realsense", "anchors_scale": "mm"}, 2),
    ],
)
def test_readings_come_from_files(page: Page, name: str, content: bytes, fields: dict[str, str], count: int) -> None:
    scene = page.upload(png())["id"]
    files = {"anchors": (name, content), **({"camera": ("c.json", _CAMERA)} if name.endswith(".ply") else {})}
    sent = page.client.post(f"/api/scenes/{scene}/readings", files=files, data=fields)
    assert sent.status_code == 200, sent.text
    assert sent.json()["readings"]["count"] == count
    assert sent.json()["focal_is_known"] == name.endswith(".ply")
    answer = page.result(scene, num_readings=10)
    assert len(answer.summary["readings"]["u"]) == min(count, 10)
    assert (answer.summary["abs_rel"] is None) == (count < 100)
    dropped = page.client.delete(f"/api/scenes/{scene}/readings").json()
    assert dropped["readings"] is None


def _model_files(folder: Path) -> dict[str, tuple[str, bytes]]:
    return {f"model{k}": (path.name, path.read_bytes()) for k, path in enumerate(sorted(folder.iterdir()))}


@pytest.mark.parametrize("write", [synthetic.write_binary, synthetic.write_text])
def test_readings_come_from_the_files_of_a_colmap_model(
    page: Page, tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    folder = write(tmp_path / "model")
    model = read_model(folder)
    image = next(iter(model.images.values()))
    camera = model.cameras[image.camera_id]
    scene = page.upload(png(camera.width, camera.height))["id"]
    given = {"from": "colmap", "image_name": image.name, "metres_per_unit": "0.5"}
    sent = page.client.post(f"/api/scenes/{scene}/readings", files=_model_files(folder), data=given)
    assert sent.status_code == 200, sent.text
    expected = Anchors.from_colmap(folder, image.name, metres_per_unit=0.5)
    readings = page.result(scene, num_readings=5000).summary["readings"]
    assert readings["z_m"] == expected.z_m.tolist()
    for wrong in ({"image_name": "none.jpg"}, {"metres_per_unit": "x"}, {"metres_per_unit": "-1"}):
        refused = page.client.post(f"/api/scenes/{scene}/readings", files=_model_files(folder), data={**given, **wrong})
        assert refused.status_code == 400, refused.text
        assert str(tmp_path.anchor + "tmp") not in refused.text
    other = page.upload(png(camera.width // 2, camera.height // 2))["id"]
    refused = page.client.post(f"/api/scenes/{other}/readings", files=_model_files(folder), data=given)
    assert refused.json()["error"].startswith("anchors: the model is of ")
    assert refused.json()["error"].endswith("a picture of the model's size is needed")
    with TestClient(create_api(Workshop(Menu()), Limits(anchors=2))) as few:
        small = few.post("/scenes", files={"image": ("a.png", png(camera.width, camera.height))}).json()["id"]
        many = few.post(f"/scenes/{small}/readings", files=_model_files(folder), data=given)
        assert (many.status_code, "at most 2" in many.json()["error"]) == (413, True)
    strange = {"model0": ("../../x.bin", b"x")}
    refused = page.client.post(f"/api/scenes/{scene}/readings", files=strange, data=given)
    assert "choose all three" in refused.json()["error"]


def test_millimetres_are_noticed_and_put_right(page: Page) -> None:
    scene = page.upload(png())["id"]
    table = b"u,v,z\n" + b"".join(b"%d,%d,%d\n" % (5 * k, 4 * k, 2000 + 50 * k) for k in range(1, 12))
    page.client.post(f"/api/scenes/{scene}/readings", files={"anchors": ("a.csv", table)})
    assert [one["name"] for one in page.result(scene).summary["warnings"]] == ["units"]
    assert page.client.post(f"/api/scenes/{scene}/repair", json={"name": "units"}).status_code == 200
    repaired = page.result(scene).summary
    assert repaired["warnings"] == []
    assert repaired["readings"]["z_m"][0] == 2.05
    wrong: tuple[Any, ...] = ({"name": "mirrored"}, {}, [])
    for broken in wrong:
        assert page.client.post(f"/api/scenes/{scene}/repair", json=broken).status_code == 400
    page.client.delete(f"/api/scenes/{scene}/readings")
    assert "readings is needed" in page.client.post(f"/api/scenes/{scene}/repair", json={"name": "units"}).text


def test_a_large_picture_is_computed_smaller_and_says_so(page: Page) -> None:
    scene = page.upload(png(2000, 1500))
    assert scene["original_size"] == [2000, 1500]
    assert scene["width"] * scene["height"] <= 1.01 * MAX_WORKING_PIXELS


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"", 415, "not a picture"),
        (b"<svg onload=alert(1)>", 415, "not a picture"),
        (png()[:200], 400, "not a readable image"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", 415, "not a picture"),
        (png(8, 8), 400, "at least 16"),
    ],
)
def test_a_broken_picture_gives_one_message(page: Page, content: bytes, status: int, words: str) -> None:
    answer = page.client.post("/api/scenes", files={"image": ("<b>x</b>.png", content)})
    assert answer.status_code == status
    assert words in answer.json()["error"]
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("name", "content", "fields", "words"),
    [
        ("a.csv", b"hello\nworld\n", {}, "no column"),
        ("a.exe", b"MZ", {}, "does not tell"),
        ("../../etc/passwd", b"x", {}, "does not tell"),
        ("a.npz", b"PK\x03\x04broken", {}, "not a readable"),
        ("c.ply", _PLY, {}, "a camera file is needed"),
        ("d.png", _depth_png(1000), {}, "choose its unit"),
        ("a.csv", b"u,v,z\n", {}, "no reading"),
        ("a.csv", b"u,v,z\n1,2,3\n", {"from": "colmap"}, "choose all three"),
        ("a.csv", b"u,v,z\n1,2,3\n", {"from": "radar"}, "is needed"),
    ],
)
def test_broken_readings_give_one_message_and_change_nothing(
    page: Page, name: str, content: bytes, fields: dict[str, str], words: str
) -> None:
    scene = page.upload(png())["id"]
    answer = page.client.post(f"/api/scenes/{scene}/readings", files={"anchors": (name, content)}, data=fields)
    assert answer.status_code in (400, 415), answer.text
    assert words in answer.json()["error"]
    assert "/tmp" not in answer.text
    assert page.result(scene, clicked=[[5, 6, 2.0]]).summary["num_kept"] == 1


def test_what_a_file_is_goes_by_its_suffix_alone(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.npy").mkdir()
    monkeypatch.chdir(tmp_path)
    scene = page.upload(png())["id"]
    refused = page.client.post(f"/api/scenes/{scene}/readings", files={"anchors": ("a.npy", _npy(np.ones((4, 4))))})
    assert refused.status_code == 400
    assert "as what it is: table | depth" in refused.json()["error"]
    assert "--" not in refused.json()["error"]
    rows = {"anchors": ("A.JSON", b"[[1, 2, 3]]")}
    assert page.client.post(f"/api/scenes/{scene}/readings", files=rows).json()["readings"]["kind"] == "table"


def test_a_recipe_cannot_name_files_or_unknown_methods(page: Page) -> None:
    scene = page.upload(png())["id"]
    for recipe in (
        {"method": "vi_depth"},
        {"foundation": "onnx:/etc/passwd"},
        {"foundation": "precomputed:x"},
        {"x": 1},
    ):
        answer = page.client.post(f"/api/scenes/{scene}/results", json=recipe)
        assert answer.status_code == 400, recipe
        assert answer.json()["error"]
    broken = page.client.post(
        f"/api/scenes/{scene}/results", content=b"{", headers={"content-type": "application/json"}
    )
    assert broken.status_code == 400


def test_what_is_no_longer_in_memory_says_so(page: Page) -> None:
    for path in ("/api/scenes/none/image.png", "/api/results/none/depth.npz"):
        answer = page.client.get(path)
        assert answer.status_code == 404
        assert "no longer in memory" in answer.json()["error"]


def test_uploads_are_limited_in_bytes_and_pixels() -> None:
    limits = Limits(body_bytes=20_000, pixels=5_000, anchors=10)
    with TestClient(create_api(Workshop(Menu()), limits)) as client:
        rng = np.random.default_rng(0)
        file = io.BytesIO()
        Image.fromarray(rng.integers(0, 255, (100, 100, 3), dtype=np.uint8)).save(file, format="PNG")
        large = client.post("/scenes", files={"image": ("a.png", file.getvalue())})
        assert (large.status_code, "bytes" in large.json()["error"]) == (413, True)
        wide = client.post("/scenes", files={"image": ("a.png", png(100, 80))})
        assert (wide.status_code, "pixels" in wide.json()["error"]) == (413, True)
        scene = client.post("/scenes", files={"image": ("a.png", png())}).json()["id"]
        rows = "u,v,z\n" + "1,2,3\n" * 50
        many = client.post(f"/scenes/{scene}/readings", files={"anchors": ("a.csv", rows.encode())})
        assert (many.status_code, "at most 10" in many.json()["error"]) == (413, True)


def test_a_kept_result_does_not_keep_the_readings_of_a_file() -> None:
    workshop = Workshop(Menu())
    scene = workshop.keep(small_scene())
    assert scene.pool is not None
    pool = weakref.ref(scene.pool)
    outcome = workshop.outcome(scene, Recipe(foundation="none"))
    scene = workshop.drop_readings(scene.id)
    assert pool() is None
    assert outcome.num_bytes >= scene.image.nbytes + outcome.result.depth_m.nbytes


def test_a_question_that_was_given_up_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    workshop = Workshop(Menu())
    scene = workshop.keep(small_scene())
    monkeypatch.setattr(workshop, "outcome", lambda *_: pytest.fail("nobody waits for it"))
    incoming: list[Message] = [{"type": "http.request", "body": b"{}"}, {"type": "http.disconnect"}]
    sent: list[Message] = []

    async def receive() -> Message:
        return incoming.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    path = f"/scenes/{scene.id}/results"
    scope = {"type": "http", "method": "POST", "path": path, "root_path": "", "query_string": b"", "headers": []}
    asyncio.run(create_api(workshop)(scope, receive, send))
    assert sent[0]["status"] == 400


def test_flags_count_as_memory_of_a_scene() -> None:
    anchors = Anchors([[1.0, 2.0]], [3.0], flag=["x" * 1000])
    scene = small_scene()
    assert scene.with_pool(anchors, "a", "table").num_bytes >= scene.image.nbytes + 8 * 64 * 48 + 4000


def test_results_are_kept_within_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrac.web.workshop.OUTCOME_BYTES", 60_000)  # two results of a small picture
    workshop = Workshop(Menu())
    scene = workshop.keep(small_scene())
    keys = [workshop.outcome(scene, Recipe(foundation="none", seed=seed, share=0.5)).key for seed in range(4)]
    with pytest.raises(GoneError):
        workshop.result(keys[0])
    assert workshop.result(keys[-1]).key == keys[-1]
