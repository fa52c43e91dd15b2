"""The service under load beside a bare loop of the library: answers, memory, throughput.

    python -m mrac.lab.studies.service --out results/service--2cores-x86_64--DATE

Starts `mrac serve` as a process of its own and sends it, from this one over loopback:

- *mixed*: 200 requests, 200 connections at once, a third of them garbage (broken, huge, cut, of wrong types, with paths
  in names). Each has an answer that is intended, and each good one must be the library's to the last bit. Repeated, so
  that memory of the first wave can be compared with that of the last.
- *throughput*: rounds in turn of a bare loop of the library in this process, `calibrator(image, anchors)` over frames
  in memory, and of as many requests of the same frames; both may use all cores, never at the same time. The ratio of
  each pair of rounds is reported, and their median; and the processor time of each for a frame, which other programs on
  the machine change less than the clock (the service's has decoding and encoding in it; the client's is beside it).

Frames are the photograph that scikit-image ships, at three sizes, with readings that differ; PNG files in, JSON out.
"""

import argparse
import base64
import io
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import numpy as np
import psutil
from PIL import Image

from mrac import Anchors, Calibrator
from mrac.conventions import ImageArray
from mrac.demo import motorcycle
from mrac.lab.studies.protocol import results_folder, write_results
from mrac.runtime.parallel import num_cores

SIZES: Final = ((741, 500), (480, 324), (320, 216))
METHODS: Final = ("default", "mrac", "cfa_huber")
_TIMEOUT_S: Final = 600.0


@dataclass(frozen=True, eq=False)
class Good:
    """A frame as it is sent, and what the library makes of it."""

    image: ImageArray
    anchors: Anchors
    method: str
    body: dict[str, Any]
    depth_m: bytes


def frames(num: int, sizes: Sequence[tuple[int, int]] = SIZES, methods: Sequence[str] = METHODS) -> list[Good]:
    """`num` different frames."""
    made = []
    for i in range(num):
        scene = motorcycle(seed=i)
        size, method = sizes[i % len(sizes)], methods[i // len(sizes) % len(methods)]
        picture = Image.fromarray(scene.image).resize(size)
        scale = np.array(size) / (scene.image.shape[1], scene.image.shape[0])
        anchors = Anchors((scene.anchors.uv_px + 0.5) * scale - 0.5, scene.anchors.z_m)
        content = io.BytesIO()
        picture.save(content, "PNG")
        rows = [[u, v, z] for (u, v), z in zip(anchors.uv_px.tolist(), anchors.z_m.tolist(), strict=True)]
        image = np.asarray(picture)
        body = {"image": content.getvalue(), "anchors": rows, "method": method}
        depth_m = Calibrator(method)(image, anchors).depth_m
        made.append(Good(image, anchors, method, body, np.ascontiguousarray(depth_m, "<f4").tobytes()))
    return made


def garbage(i: int, good: Good) -> tuple[dict[str, Any], int]:
    """The i-th kind of bad request, and the status that it must get."""
    image, rows = good.body["image"], json.dumps(good.body["anchors"])
    as_json = {"Content-Type": "application/json"}
    kinds: list[tuple[dict[str, Any], int]] = [
        ({"files": {"image": ("a.png", b"\x00garbage" * 99)}, "data": {"anchors": rows}}, 415),
        ({"files": {"image": ("a.png", image[: len(image) // 2])}, "data": {"anchors": rows}}, 400),
        ({"files": {"image": ("a.png", _huge())}, "data": {"anchors": rows}}, 413),
        ({"files": {"image": ("../../etc/cron.d/x", image)}, "data": {"anchors": "[[1, 2]]"}}, 400),
        ({"files": {"image": ("a.png", image), "anchors": ("../../a.sh", b"rm")}}, 415),
        ({"files": {"image": ("a.png", image)}, "data": {"anchors": rows, "foundation": "onnx:/etc/passwd"}}, 400),
        ({"files": {"image": ("a.png", image), "anchors": ("a.npz", _bomb())}}, 413),
        ({"files": {"image": ("a.png", bytes(40 * 2**20))}, "data": {"anchors": rows}}, 413),
        ({"content": b"[" * 100_000, "headers": as_json}, 400),
        ({"content": b'{"image": "###", "anchors": []}', "headers": as_json}, 400),
        ({"content": b"--b\r\nfoo", "headers": {"Content-Type": "multipart/form-data; boundary=b"}}, 400),
        ({"content": b"\x1f\x8b" * 99, "headers": {**as_json, "Content-Encoding": "gzip"}}, 415),
    ]
    return kinds[i % len(kinds)]


@cache
def _huge() -> bytes:
    content = io.BytesIO()
    Image.new("1", (20_000, 8_000)).save(content, "PNG")
    return content.getvalue()


@cache
def _bomb() -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, uv_px=np.zeros((17_000_000, 2)), z_m=np.zeros(3))
    return content.getvalue()


@contextmanager
def serving(*options: str) -> Iterator[tuple[str, psutil.Process]]:
    """`mrac serve` as a process of its own, ready; its address and itself."""
    command = [sys.executable, "-m", "mrac", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"MRAC_TOKEN": ""}) as process:
        assert process.stderr is not None
        try:
            url = ""
            for line in process.stderr:
                url = line.partition("listening on ")[2].partition(",")[0] or url
                if line.rstrip().endswith("ready"):
                    break
            # Its log would fill the pipe.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield url, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(60)


def sent(client: httpx.Client, good: Good) -> httpx.Response:
    files = {"image": ("a.png", good.body["image"])}
    return client.post("/v1/calibrate", files=files, data=_fields(good))


def _fields(good: Good) -> dict[str, str]:
    return {"anchors": json.dumps(good.body["anchors"]), "method": good.method}


def mixed(url: str, made: Sequence[Good], num: int) -> Counter[str]:
    """Sends `num` requests at once, every third of them garbage; counts answers, and those that were not intended."""
    bad = [garbage(i, made[0]) for i in range(num // 3)]
    start = threading.Barrier(num)

    def one(i: int) -> str:
        with httpx.Client(base_url=url, timeout=_TIMEOUT_S) as client:
            start.wait()
            if i % 3 == 2 and i // 3 < len(bad):
                request, status = bad[i // 3]
                response = client.post("/v1/calibrate", **request)
                is_plain = set(response.json()) == {"error", "request_id"} and "Traceback" not in response.text
                return f"refused {status}" if response.status_code == status and is_plain else _odd(response)
            good = made[i % len(made)]
            response = sent(client, good)
            if response.status_code != 200:
                return _odd(response)
            depth_m = base64.b64decode(response.json()["depth_m"]["base64"])
            return "equal" if depth_m == good.depth_m else "unequal"

    with ThreadPoolExecutor(num) as pool:
        return Counter(pool.map(one, range(num)))


def _odd(response: httpx.Response) -> str:
    return f"not intended: {response.status_code} {response.text[:200]}"


class Rate(NamedTuple):
    """Frames per second, and processor seconds for each."""

    per_s: float
    cpu_s: float


def library_rate(made: Sequence[Good], num: int) -> Rate:
    """Of a bare loop."""
    calibrators = {good.method: Calibrator(good.method) for good in made}
    start, used = time.perf_counter(), time.process_time()
    for i in range(num):
        good = made[i % len(made)]
        calibrators[good.method](good.image, good.anchors)
    return Rate(num / (time.perf_counter() - start), (time.process_time() - used) / num)


def service_rate(url: str, process: psutil.Process, made: Sequence[Good], num: int, connections: int) -> Rate:
    """Of as many requests over `connections` connections at a time."""
    with httpx.Client(base_url=url, timeout=_TIMEOUT_S, limits=httpx.Limits(max_connections=connections)) as client:

        def one(i: int) -> None:
            assert sent(client, made[i % len(made)]).status_code == 200

        with ThreadPoolExecutor(connections) as pool:
            start, used = time.perf_counter(), sum(process.cpu_times()[:2])
            list(pool.map(one, range(num)))
            return Rate(num / (time.perf_counter() - start), (sum(process.cpu_times()[:2]) - used) / num)


def throughput(
    url: str, process: psutil.Process, made: Sequence[Good], rounds: int, num: int, connections: int
) -> dict[str, Any]:
    """Rounds of library and service in turn, and the ratio of each pair."""
    library_rate(made, len(made))
    service_rate(url, process, made, len(made), connections)
    pairs = []
    for _ in range(rounds):
        pair = library_rate(made, num), service_rate(url, process, made, num, connections)
        pairs.append(pair)
        print(
            f"library {pair[0].per_s:.2f}/s, service {pair[1].per_s:.2f}/s, ratio {pair[1].per_s / pair[0].per_s:.3f}"
        )
    ratios = [service.per_s / library.per_s for library, service in pairs]
    return {
        "frames_per_round": num,
        "connections": connections,
        "library_per_s": [round(library.per_s, 3) for library, _ in pairs],
        "service_per_s": [round(service.per_s, 3) for _, service in pairs],
        "ratios": [round(ratio, 3) for ratio in ratios],
        "median_ratio": round(statistics.median(ratios), 3),
        "library_cpu_s_per_frame": round(statistics.median(library.cpu_s for library, _ in pairs), 3),
        "service_cpu_s_per_frame": round(statistics.median(service.cpu_s for _, service in pairs), 3),
    }


def memory(url: str, process: psutil.Process, made: Sequence[Good], waves: int, num: int) -> dict[str, Any]:
    """Waves of mixed requests; the service's resident memory after each, in MiB."""
    answers: Counter[str] = Counter()
    after = []
    for _ in range(waves):
        answers += mixed(url, made, num)
        after.append(round(process.memory_info().rss / 2**20, 1))
        print(f"{num} mixed requests: {after[-1]} MiB, {dict(answers)}")
    return {"requests_per_wave": num, "rss_mib_after_wave": after, "answers": dict(answers)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=200, help="of a wave of mixed requests, all at once")
    parser.add_argument("--waves", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=9, help="of the throughput")
    parser.add_argument("--frames", type=int, default=18, help="of a round")
    parser.add_argument("--connections", type=int, default=4, help="at a time, of the throughput")
    parser.add_argument("--out", type=Path, default=results_folder("service"))
    given = parser.parse_args(arguments)
    made = frames(9)
    load = os.getloadavg()
    with serving("--max-waiting", str(given.requests), "--max-seconds", "600") as (url, process):
        speed = throughput(url, process, made, given.rounds, given.frames, given.connections)
        waves = memory(url, process, made, given.waves, given.requests)
    print(f"median ratio {speed['median_ratio']}; load before {load[0]:.1f}, after {os.getloadavg()[0]:.1f}")
    write_results(
        given.out / "service.json",
        cores=num_cores(),
        load_before=load,
        load_after=os.getloadavg(),
        throughput=speed,
        mixed=waves,
    )


if __name__ == "__main__":
    main()
