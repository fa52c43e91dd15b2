"""`mrac fetch` against a hub of our own on this machine: downloaded, resumed, checked, or one line."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

COMMIT = "c" * 40
WEIGHTS = bytes(range(256)) * 100_000  # 26 MB; the hub's client writes pieces of 10 MB
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()
RESOLVE = "/depth-anything/Depth-Anything-V2-Small-hf/resolve/main/model.safetensors"


@dataclass
class Hub:
    """What the server does, and what it was asked for."""

    address: str = ""
    stall_at: int = 0  # the first download of the weights stops here, with the connection open
    stalled: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    damage: bool = False
    ranges: list[str] = field(default_factory=list)


@pytest.fixture
def hub() -> Iterator[Hub]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            if self.path == "/storage" and body:
                self.send_weights(self.headers.get("Range", ""))
                return
            # The hub itself states size and checksum, and sends on to another host.
            self.send_response(302 if self.path == RESOLVE else 404)
            if self.path == RESOLVE:
                self.send_header("Location", state.address.replace("127.0.0.1", "localhost") + "/storage")
                self.send_header("X-Linked-Etag", f'"{SHA256}"')
                self.send_header("X-Linked-Size", str(len(WEIGHTS)))
                self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def send_weights(self, asked: str) -> None:
            state.ranges.append(asked)
            begin = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
            content = bytes(len(WEIGHTS)) if state.damage else WEIGHTS
            self.send_response(206 if asked else 200)
            if asked:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            if state.stall_at:
                self.wfile.write(content[begin : state.stall_at])
                self.wfile.flush()
                state.stalled.set()
                state.go_on.wait(60)
                self.close_connection = True
                return
            self.wfile.write(content[begin:])

        def log_message(self, *args: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *args: object) -> None:
            pass  # a client that was killed

    server = Quiet(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield state
    state.go_on.set()
    server.shutdown()
    server.server_close()


def command(home: Path, address: str, name: str = "dav2-small") -> dict[str, Any]:
    """What `subprocess` takes to run the command with an empty cache and no hub but ours."""
    ours = ("http_proxy", "https_proxy", "all_proxy", "hf_home", "hf_hub_cache", "huggingface_hub_cache")
    environment = {key: value for key, value in os.environ.items() if key.lower() not in ours}
    environment |= {"XDG_CACHE_HOME": str(home), "HF_ENDPOINT": address, "HF_HUB_DISABLE_XET": "1"}
    return {"args": [sys.executable, "-m", "mrac", "fetch", name], "env": environment}


def fetch(home: Path, address: str, name: str = "dav2-small") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(**command(home, address, name), capture_output=True, text=True, check=False, timeout=120)
    assert isinstance(done.stdout, str)
    return done


def weights_in(home: Path) -> Path:
    return home / "mrac" / "dav2-small" / "model.safetensors"


@pytest.mark.lab
def test_downloads_once_and_checks(hub: Hub, tmp_path: Path) -> None:
    done = fetch(tmp_path, hub.address)
    assert done.returncode == 0, done.stderr
    assert weights_in(tmp_path).read_bytes() == WEIGHTS
    names = sorted(path.name for path in weights_in(tmp_path).parent.iterdir())
    assert names == ["model.safetensors", "model.safetensors.sha256"]
    assert done.stdout == (
        f"dav2-small: downloaded, 25.6 MB, sha256 {SHA256} as the hub states, Apache-2.0: {weights_in(tmp_path)}\n"
    )
    again = fetch(tmp_path, "http://127.0.0.1:9")  # no hub is needed any more
    assert again.stdout == done.stdout.replace("downloaded", "already here")
    assert hub.ranges == [""]
    weights_in(tmp_path).write_bytes(WEIGHTS[:-1])
    assert "is damaged and was deleted" in fetch(tmp_path, "http://127.0.0.1:9").stderr


@pytest.mark.lab
def test_goes_on_where_it_was_cut_off(hub: Hub, tmp_path: Path) -> None:
    hub.stall_at = 16_000_000
    first = subprocess.Popen(**command(tmp_path, hub.address), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert hub.stalled.wait(60)
    while sum(part.stat().st_size for part in weights_in(tmp_path).parent.glob(".*.part")) < 10_000_000:
        assert first.poll() is None
        time.sleep(0.01)
    first.kill()
    first.wait()
    assert not weights_in(tmp_path).exists()
    hub.stall_at = 0
    hub.go_on.set()
    done = fetch(tmp_path, hub.address)
    assert done.returncode == 0, done.stderr
    assert weights_in(tmp_path).read_bytes() == WEIGHTS
    assert len(hub.ranges) == 2
    assert int(hub.ranges[1].removeprefix("bytes=").partition("-")[0]) >= 10_000_000


@pytest.mark.lab
def test_a_damaged_download_is_deleted(hub: Hub, tmp_path: Path) -> None:
    hub.damage = True
    done = fetch(tmp_path, hub.address)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("mrac: fetch: ")
    assert "is damaged and was deleted" in done.stderr
    assert list(weights_in(tmp_path).parent.iterdir()) == []
    hub.damage = False
    assert fetch(tmp_path, hub.address).returncode == 0
    assert weights_in(tmp_path).read_bytes() == WEIGHTS


@pytest.mark.lab
def test_without_a_network_it_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    done = fetch(tmp_path, "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("mrac: fetch: dav2-small could not be downloaded (")
    assert f"model.safetensors to {tmp_path}/mrac/dav2-small/model.safetensors, or name your copy" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_another_name_is_one_line_with_the_command(tmp_path: Path) -> None:
    large, unknown = fetch(tmp_path, "", "dav2-large"), fetch(tmp_path, "", "nothing")
    assert large.returncode == unknown.returncode == 2
    assert "hf download depth-anything/Depth-Anything-V2-Large-hf --include" in large.stderr
    assert unknown.stderr == "mrac: fetch: 'nothing' arrived, dav2-small is needed\n"
