"""`mrac web`: a page in the browser to try the method on, served from this machine."""

import click


@click.command(short_help="A page in the browser to try it on; nothing leaves the machine.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on. Another than loopback lets the whole network in: there is no password.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8008, show_default=True, help="0 takes a free one.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--allow-host",
    "host_names",
    multiple=True,
    metavar="NAME",
    help="A name under which browsers may ask for the page, beside addresses and localhost. May be repeated.",
)
@click.option(
    "--foundation",
    metavar="SPEC",
    help="In place of every method's own network: dav2-small, onnx:model.onnx, ...; see `mrac list foundations`.",
)
@click.option(
    "--device", default="cpu", show_default=True, metavar="NAME", help="Runs networks; see `mrac list devices`."
)
def web(
    host: str, port: int, open_browser: bool, host_names: tuple[str, ...], foundation: str | None, device: str
) -> None:
    """Serve a page: drop a picture, click readings, make some of them wrong, compare methods side by side.

    Pictures and results stay in this program's memory, and go when it ends. Stop it with Ctrl+C.

    \b
    Examples:
      mrac web --open
      mrac web --port 9000
      mrac web --foundation dav2-small
    """
    from mrac.errors import MissingExtra  # noqa: PLC0415

    try:
        import python_multipart  # noqa: F401, PLC0415
        import starlette  # noqa: F401, PLC0415
        import uvicorn  # noqa: F401, PLC0415
    except ImportError:
        raise MissingExtra("web", "web") from None
    from mrac.web.serve import Address, serve  # noqa: PLC0415

    serve(Address(host, port), open_browser, host_names, foundation, device)


COMMAND = web
