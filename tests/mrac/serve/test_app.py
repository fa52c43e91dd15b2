"""Every answer of the service, good and bad, over a real socket."""

import base64
import gzip
import hmac
import io
import json
import socket
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from starlette.requests import Request

from mrac import Calibrator, MetricDepth
from mrac.errors import ContractError
from mrac.http import Limits, Offer
from mrac.http.errors import UnauthorizedError
from mrac.serve import Settings
from mrac.serve.app import Service
from mrac.serve.handler import Answer, Job
from mrac.serve.workers import Place
from mrac.version import __version__
from tests.mrac.http.frames import ANCHORS, IMAGE, ROWS, csv, npz, png
from tests.mrac.http.test_expansion import huge_png
from tests.mrac.serve.running import LIMITS, SETTINGS, Running, served

FILES = {"image": ("a.png", png()), "anchors": ("a.csv", csv())}


def as_json(**more: Any) -> dict[str, Any]:
    return {"image": base64.b64encode(png()).decode(), "anchors": ROWS, **more}


def maps(content: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(
        np.frombuffer(base64.b64decode(content[name]["base64"]), "<f4").reshape(content[name]["shape"])
        for name in ("depth_m", "sigma_m")
    )


def refused(response: httpx.Response, status: int, words: str) -> None:
    """One message as JSON, with the id, and no trace of Python."""
    assert response.status_code == status, response.text
    content = response.json()
    assert sorted(content) == ["error", "request_id"]
    assert words in content["error"]
    assert "\n" not in content["error"]
    assert "Traceback" not in response.text
    assert content["request_id"] == response.headers["X-Request-ID"]


@pytest.mark.parametrize("method", ["nearest", "default", "mrac"])
def test_answers_are_the_library_s_to_the_last_bit(running: Running, method: str) -> None:
    own = Calibrator(method)(IMAGE, ANCHORS)
    by_form = running.post(files=FILES, data={"method": method})
    by_json = running.post(json=as_json(method=method))
    for response in (by_form, by_json):
        assert response.status_code == 200
        depth_m, sigma_m = maps(response.json())
        assert np.array_equal(depth_m, own.depth_m)
        assert np.array_equal(sigma_m, own.sigma_m)
        for name, values in vars(own.anchors).items():
            assert [row[name] for row in response.json()["anchors"]] == values.tolist()
    assert by_form.headers["X-Mrac-Status"] == own.status


def library() -> MetricDepth:
    return Calibrator("nearest")(IMAGE, ANCHORS)


def test_png_and_npz_by_field_or_header(running: Running, tmp_path: Any) -> None:
    own = library()
    stored = own.save(tmp_path / "a.png").read_bytes()
    for response in (
        running.post(files=FILES, data={"format": "png"}),
        running.post(files=FILES, headers={"Accept": "image/png"}),
        running.post(json=as_json(format="png")),
    ):
        assert response.headers["Content-Type"] == "image/png"
        assert response.content == stored
    response = running.post(files=FILES, headers={"Accept": "application/x-npz"})
    assert response.headers["Content-Type"] == "application/x-npz"
    with np.load(io.BytesIO(response.content)) as sent:
        assert np.array_equal(sent["sigma_m"], own.sigma_m)
        assert sent["reason"].tolist() == own.anchors.reason.tolist()


def test_readings_as_text_and_options_as_fields(running: Running) -> None:
    own = Calibrator("mrac", gate="theil_sen_mad:kappa=3", foundation="none", head="affine")(IMAGE, ANCHORS)
    data = {"method": "mrac", "gate": "theil_sen_mad:kappa=3", "foundation": "none", "head": "affine", "maps": "depth"}
    response = running.post(files={"image": FILES["image"]}, data={"anchors": json.dumps(ROWS), **data})
    content = response.json()
    assert "sigma_m" not in content
    values = np.frombuffer(base64.b64decode(content["depth_m"]["base64"]), "<f4").reshape(own.depth_m.shape)
    assert np.array_equal(values, own.depth_m)
    assert content["stages"]["gate"] == "theil_sen_mad"


def test_a_sane_request_id_is_kept_and_another_is_replaced(running: Running) -> None:
    assert running.client.get("/health", headers={"X-Request-ID": "a-1.B_2"}).headers["X-Request-ID"] == "a-1.B_2"
    for bad in ("x" * 65, "a b", "<script>", "a\tb"):
        own = running.client.get("/health", headers={"X-Request-ID": bad}).headers["X-Request-ID"]
        assert own != bad
        assert len(own) == 16


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        ({"files": {"image": FILES["image"]}}, 400, "no anchors"),
        ({"files": {"anchors": FILES["anchors"]}}, 400, "no image"),
        ({"files": FILES, "data": {"method": "nope"}}, 400, "method: 'nope'"),
        ({"files": FILES, "data": {"foundation": "onnx:/etc/passwd"}}, 400, "foundation: 'onnx'"),
        ({"files": FILES, "data": {"format": "exe"}}, 400, "format: 'exe'"),
        ({"files": FILES, "data": {"maps": "x"}}, 400, "maps: 'x'"),
        ({"files": FILES, "data": {"surprise": "1"}}, 400, "'surprise' is not known"),
        ({"files": FILES, "headers": {"Accept": "text/html"}}, 400, "Accept"),
        ({"files": [("image", FILES["image"]), ("image", FILES["image"])]}, 400, "arrived twice"),
        ({"files": FILES | {"image": ("a.png", b"garbage")}}, 415, "not a picture"),
        ({"files": FILES | {"image": ("a.png", png()[:300])}}, 400, "not a readable image"),
        ({"files": FILES | {"image": ("a.png", huge_png(60_000))}}, 413, "by its header"),
        ({"files": FILES | {"anchors": ("a.csv", b"u,v,z\n1,2,x")}}, 400, "anchors.csv line 2"),
        ({"files": FILES | {"anchors": ("a.csv", csv([[1, 1, 1]] * 101))}}, 413, "101 arrived"),
        ({"files": FILES | {"anchors": ("a.csv", b"u,v,z\n999,999,1\n")}}, 400, "none of the 1 is usable"),
        ({"files": FILES | {"anchors": ("a.npz", npz(uv_px=np.zeros((10**6, 2)), z_m=1))}}, 413, "once expanded"),
        ({"files": FILES | {"anchors": ("../../a.sh", b"x")}}, 415, "a.sh"),
        ({"files": FILES | {"image": ("a.png", bytes(300_000))}}, 413, "over 200,000 bytes"),
        ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400, "not readable as JSON"),
        ({"content": b"[1]", "headers": {"Content-Type": "application/json"}}, 400, "JSON object is needed"),
        ({"content": b"\xff\xfe\xfa", "headers": {"Content-Type": "application/json"}}, 400, "not readable as JSON"),
        ({"content": b"[" * 99_999, "headers": {"Content-Type": "application/json"}}, 400, "not readable as JSON"),
        ({"json": {"image": "###", "anchors": ROWS}}, 400, "not base64"),
        ({"json": {"image": 3, "anchors": ROWS}}, 400, "base64 text is needed"),
        ({"json": as_json(method={"a": 1})}, 400, "an object arrived"),
        ({"json": as_json(fix=[[1], [2]])}, 400, "fix: '[1]' arrived"),
        ({"json": as_json() | {"anchors": [[1, 2, "x"]]}}, 400, "row 0"),
        ({"json": as_json() | {"anchors": "AAAA"}}, 400, "anchors"),
        ({"content": b"x", "headers": {"Content-Type": "text/plain"}}, 415, "Content-Type 'text/plain'"),
        ({"content": b"x"}, 415, "Content-Type ''"),
        ({"content": b"x", "headers": {"Content-Type": "multipart/form-data"}}, 400, "Missing boundary"),
        ({"content": b"x" * 500, "headers": {"Content-Type": "multipart/form-data; boundary=b"}}, 400, "broken"),
    ],
)
def test_a_bad_request_is_one_message(running: Running, given: dict[str, Any], status: int, words: str) -> None:
    refused(running.post(**given), status, words)


def test_a_compressed_body_is_refused_unopened(running: Running) -> None:
    body = gzip.compress(bytes(10**7))
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    refused(running.post(content=body, headers=headers), 415, "Content-Encoding gzip")


def test_a_cut_multipart_body_is_refused(running: Running) -> None:
    whole = httpx.Request("POST", "http://x", files=FILES)
    body = whole.read()
    headers = {"Content-Type": whole.headers["Content-Type"]}
    assert running.post(content=body, headers=headers).status_code == 200
    for length in range(0, len(body), 97):
        response = running.post(content=body[:length], headers=headers)
        assert response.status_code == 400, length


def test_the_body_is_counted_whatever_its_length_is_said_to_be(running: Running) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(30):
            yield bytes(10_000)

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    first = b'--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n'
    refused(running.post(content=iter([first, *chunks()]), headers=headers), 413, "over 200,000 bytes")


def test_other_paths_and_verbs(running: Running) -> None:
    refused(running.client.get("/nowhere"), 404, "Not Found")
    refused(running.client.get("/v1/calibrate"), 405, "Method Not Allowed")
    assert running.client.get("/").headers["Location"] == "/docs"
    assert running.client.get("/health").json() == {"status": "ok", "version": __version__}


def test_methods_name_what_may_be_chosen(running: Running) -> None:
    content = running.client.get("/v1/methods").json()
    names = [each["name"] for each in content["methods"]]
    assert content["default"] == names[0] == "nearest"
    assert "mrac" in names
    assert "open" not in names
    assert content["limits"] == {"body_bytes": 200_000, "pixels": 1200, "anchors": 100, "seconds": 20.0}
    assert all(each["summary"] for key in ("methods", "gates", "fits", "heads") for each in content[key])


def test_a_mistake_of_the_server_s_shows_nothing_of_itself(
    running: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> Answer:
        raise RuntimeError("secret path /srv/x")

    monkeypatch.setattr(running.service, "compute", broken)
    response = running.post(files=FILES)
    refused(response, 500, "internal error")
    assert "secret" not in response.text
    assert response.json()["request_id"] in caplog.text
    assert "secret" in caplog.text


def held(running: Running) -> tuple[threading.Semaphore, threading.Event]:
    """Jobs that say when they run, and go on when told."""
    started, go = threading.Semaphore(0), threading.Event()
    whole: Callable[[Job], Answer] = running.service.handler.whole

    def waits(job: Job) -> Answer:
        started.release()
        assert go.wait(30)
        return whole(job)

    object.__setattr__(running.service.handler, "whole", waits)
    return started, go


def test_beyond_the_queue_clients_are_sent_away_and_the_rest_is_served() -> None:
    settings = Settings(offer=Offer(method="nearest"), limits=LIMITS, workers=1, waiting=1)
    with served(settings) as running:
        started, go = held(running)
        answers: list[int] = []
        threads = [
            threading.Thread(target=lambda: answers.append(running.post(files=FILES).status_code)) for _ in range(2)
        ]
        threads[0].start()
        assert started.acquire(timeout=30)
        threads[1].start()
        while running.service.workers.inside < 2:
            pass
        response = running.post(files=FILES)
        refused(response, 429, "busy: 2 requests")
        assert int(response.headers["Retry-After"]) >= 1
        text = running.client.get("/metrics").text  # the event loop answers while the threads are taken
        assert "mrac_in_flight 1.0" in text
        assert "mrac_queue 1.0" in text
        go.set()
        for thread in threads:
            thread.join(30)
        assert answers == [200, 200]
        assert running.post(files=FILES).status_code == 200
        assert 'mrac_requests_total{route="/v1/calibrate",status="429"} 1.0' in running.client.get("/metrics").text


def test_a_calibration_beyond_the_time_limit_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Settings(offer=Offer(method="nearest"), limits=LIMITS, workers=1, waiting=1)) as running:
        go = threading.Event()

        async def step(place: Place, job: Job, request: Request) -> Answer:
            await place.run(lambda: go.wait(30), 0.01, request)
            raise AssertionError

        with monkeypatch.context() as patch:
            patch.setattr(running.service, "compute", step)
            refused(running.post(files=FILES), 504, "not done after 0.01 s")
        assert running.service.workers.inside == 1  # its thread still runs
        go.set()
        assert running.post(files=FILES).status_code == 200
        while running.service.workers.inside:
            pass


def test_a_slow_body_is_given_up() -> None:
    limits = Limits(body_bytes=200_000, pixels=1200, anchors=100, seconds=0.2)
    with served(Settings(offer=Offer(method="nearest"), limits=limits)) as running:
        with socket.create_connection(("127.0.0.1", running.port), timeout=30) as own:
            head = (
                b"POST /v1/calibrate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"
            )
            own.sendall(head + b"Connection: close\r\n\r\n{")
            answer = b"".join(iter(lambda: own.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"not complete after 0.2 s" in answer
        assert running.service.workers.inside == 0


def test_a_client_that_leaves_gives_its_place_back(running: Running) -> None:
    head = b"POST /v1/calibrate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    with socket.create_connection(("127.0.0.1", running.port), timeout=30) as own:
        own.sendall(head)
    while running.service.workers.inside:
        pass
    assert running.post(files=FILES).status_code == 200


def test_the_token_is_needed_where_there_is_one() -> None:
    token = "correct-horse-battery"
    with served(Settings(offer=Offer(method="nearest"), limits=LIMITS, token=token)) as running:
        for headers in (
            {},
            {"Authorization": "Bearer wrong-horse-battery"},
            {"Authorization": f"Basic {token}"},
            {"Authorization": "Bearer \u00e9\u00e9".encode().decode("latin-1")},
            {"Authorization": "Bearer"},
        ):
            response = running.post(files=FILES, headers={k: v.encode("latin-1") for k, v in headers.items()})
            refused(response, 401, "bearer token")
            assert response.headers["WWW-Authenticate"] == "Bearer"
        refused(running.client.get("/v1/methods"), 401, "bearer token")
        refused(running.client.get("/metrics"), 401, "bearer token")
        assert running.client.get("/health").status_code == 200
        own = {"Authorization": f"Bearer {token}"}
        assert running.post(files=FILES, headers=own).status_code == 200
        assert running.client.get("/metrics", headers=own).status_code == 200
        schema = running.client.get("/openapi.json").json()
        assert schema["paths"]["/v1/calibrate"]["post"]["security"] == [{"token": []}]
        assert token not in repr(running.service.settings)


@pytest.mark.parametrize("given", ["", "c", "correct-horse-batterz", "x" * 500, "\u00e9\u00e9"])
def test_the_time_of_a_refusal_does_not_tell_how_much_of_the_token_was_right(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, compared = "correct-horse-battery", []
    whole = hmac.compare_digest

    def spy(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return whole(a, b)

    monkeypatch.setattr(hmac, "compare_digest", spy)
    service = SimpleNamespace(settings=Settings(token=token))
    request = SimpleNamespace(headers={"authorization": f"Bearer {given}"})
    with pytest.raises(UnauthorizedError):
        Service.check_token(service, request)  # type: ignore[arg-type]
    assert compared == [(given.encode(), token.encode())]  # whatever arrived: no shorter way


def test_metrics_count_and_time_requests(running: Running) -> None:
    def value(name: str) -> float:
        lines = running.client.get("/metrics").text.splitlines()
        return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)), 0.0)

    good, bad = (f'mrac_requests_total{{route="/v1/calibrate",status="{code}"}}' for code in (200, 415))
    before = value(good), value(bad), value('mrac_request_duration_seconds_count{route="/v1/calibrate"}')
    running.post(files=FILES)
    running.post(files=FILES | {"image": ("a", b"x")})
    assert (value(good), value(bad)) == (before[0] + 1, before[1] + 1)
    assert value('mrac_request_duration_seconds_count{route="/v1/calibrate"}') == before[2] + 2
    assert value("mrac_in_flight") == value("mrac_queue") == 0.0
    assert value("mrac_workers") == 2.0
    running.client.get("/x" * 50)
    assert "/x/x" not in running.client.get("/metrics").text


@pytest.mark.parametrize("given", [{"workers": 0}, {"waiting": -1}, {"token": "short"}, {"token": "a b" * 9}])
def test_settings_are_checked(given: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        Settings(**given)


def test_defaults() -> None:
    assert SETTINGS.token == ""
    assert Settings().limits == Limits(body_bytes=33_554_432, pixels=16_000_000, anchors=10_000, seconds=60.0)
