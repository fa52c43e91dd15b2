"""`mrac serve`: the HTTP service."""

import logging
from pathlib import Path
from typing import Any

import click


@click.command(short_help="Calibrate over HTTP.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="0.0.0.0: every network.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, metavar="N", help="0: any free."
)
@click.option("--method", default="default", show_default=True, metavar="NAME",
              help="Of requests that name none; see `mrac list methods`.")  # fmt: skip
@click.option("--foundation", metavar="SPEC", help="Network in place of every method's: dav2-small, onnx:FILE, ...")
@click.option("--device", default="cpu", show_default=True, metavar="NAME", help="See `mrac list devices`.")
@click.option("--workers", type=click.IntRange(1, 1024), metavar="N",
              help="Calibrations at the same time. Default: one per core.")  # fmt: skip
@click.option("--max-waiting", type=click.IntRange(0), default=32, show_default=True, metavar="N",
              help="Requests that may wait besides; beyond, 429.")  # fmt: skip
@click.option("--max-body", type=click.FloatRange(0, min_open=True), default=32.0, show_default=True, metavar="MIB",
              help="Size of a request.")  # fmt: skip
@click.option("--max-pixels", type=click.FloatRange(0, min_open=True), default=16.0, show_default=True,
              metavar="MILLIONS", help="Of an image, by its header.")  # fmt: skip
@click.option("--max-anchors", type=click.IntRange(1), default=10_000, show_default=True, metavar="N",
              help="Readings of a request.")  # fmt: skip
@click.option("--max-seconds", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True, metavar="S",
              help="For the body to arrive, and again for the answer.")  # fmt: skip
@click.option("--token-file", type=click.Path(path_type=Path), metavar="FILE",
              help="Bearer token that clients must send. Default: the environment variable MRAC_TOKEN.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Log warnings and errors alone.")
def serve(host: str, port: int, **options: Any) -> None:
    """Answer POST /v1/calibrate with depth, standard deviation and verdicts, until stopped.

    Also /docs (all requests on one page), /openapi.json, /v1/methods, /health, /ready and /metrics. Listens on this
    machine alone unless --host says otherwise.

    \b
    Examples:
      mrac serve
      mrac serve --method mrac --port 9000
      MRAC_TOKEN=$(cat token) mrac serve --host 0.0.0.0 --max-anchors 500
      curl -F image=@a.jpg -F anchors=@a.csv -F format=png -o depth.png localhost:8000/v1/calibrate
    """
    from mrac.errors import MissingExtra  # noqa: PLC0415  (all of it loads with the command)

    try:
        from mrac.http import Limits, Offer  # noqa: PLC0415
        from mrac.serve.server import run  # noqa: PLC0415
        from mrac.serve.settings import Settings, read_token  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtra("mrac serve", "serve") from error
    logging.getLogger("mrac.serve").setLevel(logging.WARNING if options["quiet"] else logging.INFO)
    for handler in logging.getLogger("mrac").handlers:  # the command line's: a server's lines need a time
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    settings = Settings(
        offer=Offer(options["method"], options["foundation"], device=options["device"]),
        limits=Limits(
            body_bytes=max(1, round(options["max_body"] * 2**20)),
            pixels=max(1, round(options["max_pixels"] * 1e6)),
            anchors=options["max_anchors"],
            seconds=options["max_seconds"],
        ),
        waiting=options["max_waiting"],
        token=read_token(options["token_file"]),
        **({} if options["workers"] is None else {"workers": options["workers"]}),
    )
    run(settings, host, port)


COMMAND = serve
