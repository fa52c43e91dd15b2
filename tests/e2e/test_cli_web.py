import json
import socket
import subprocess
import sys
from urllib.request import urlopen

from tests.e2e.web_server import running_page


def test_the_page_is_served_on_loopback_and_its_api_answers() -> None:
    with running_page() as address:
        assert address.startswith("http://127.0.0.1:")
        with urlopen(address, timeout=30) as answer:
            page = answer.read().decode()
            assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "Which readings lie?" in page
        assert "://" not in page.replace("http://www.w3.org/2000/svg", "")  # nothing is loaded from elsewhere
        with urlopen(f"{address}api/options", timeout=60) as answer:
            assert json.load(answer)["columns"][2]["method"] == "default"


def test_files_of_the_page_wait_for_no_numeric_library() -> None:
    listing = "import mrac.web.app, mrac.web.serve, sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"numpy", "scipy", "numba", "onnxruntime", "PIL", "skimage"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mrac", "web", *arguments], capture_output=True, text=True, check=False
    )


def test_a_taken_port_and_an_unknown_network_are_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("--port", str(taken.getsockname()[1]))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cannot be listened on" in done.stderr
    done = run("--foundation", "nonsense")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "nonsense" in done.stderr
