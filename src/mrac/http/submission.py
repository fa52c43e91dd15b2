"""Takes a request's body in, multipart/form-data or JSON with base64, while it counts bytes and seconds."""

import asyncio
import base64
import binascii
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.datastructures import UploadFile
from starlette.requests import Request

from mrac.errors import ContractError, MissingExtra
from mrac.http.errors import SlowBodyError, TooLargeError, UnsupportedError
from mrac.http.limits import Limits

FILES: Final = ("image", "anchors", "camera", "pose", "depth_camera", "confidence")
"""Parts whose content is a file; in multipart/form-data they may also come as text, in JSON as plain values."""
_MAX_PARTS: Final = 40
_TAIL: Final = 1024  # bytes in which the last boundary is looked for: little may follow it


@dataclass(frozen=True)
class Upload:
    """A file of a request.

    Attributes:
        name: that the client gave it, of which the suffix alone is ever used; empty where it gave none.
        content: its bytes.
    """

    name: str
    content: bytes


@dataclass(frozen=True)
class Submission:
    """A request's body: its files and its other fields, not yet looked into."""

    files: dict[str, Upload] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)


async def read_submission(request: Request, limits: Limits) -> Submission:
    """Reads the body of a request.

    Raises:
        ContractError: it is broken, or a part arrived twice.
        RequestError: it is too large (413), too slow (408), or neither multipart/form-data nor JSON (415).
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):  # what it grows to cannot be known before
        raise UnsupportedError(f"request: Content-Encoding {encoding:.40} arrived; send the body as it is")
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    try:
        async with asyncio.timeout(limits.seconds):
            match kind.strip().lower():
                case "multipart/form-data":
                    return await _multipart(request, limits, parameters)
                case "application/json":
                    return await asyncio.to_thread(from_json, await _whole(request, limits))
    except TimeoutError:
        raise _slow(limits) from None
    raise UnsupportedError(
        f"request: Content-Type {kind.strip()[:60]!r} arrived; multipart/form-data or application/json is needed"
    )


async def read_json(request: Request, limits: Limits) -> Any:
    """The parsed body of a request that is plain JSON.

    Raises:
        ContractError: it is not readable as JSON.
        RequestError: it is too large (413) or too slow (408).
    """
    try:
        async with asyncio.timeout(limits.seconds):
            body = await _whole(request, limits)
    except TimeoutError:
        raise _slow(limits) from None
    return await asyncio.to_thread(_parsed, body)


def _slow(limits: Limits) -> SlowBodyError:
    return SlowBodyError(f"request: the body was not complete after {limits.seconds:g} s; send it faster")


async def _whole(request: Request, limits: Limits) -> bytes:
    return b"".join([chunk async for chunk in _limited(request, limits)])


def _parsed(body: bytes) -> Any:
    """Parsed JSON. For a thread: of a body at the limit it takes a second, in which nobody else would be answered."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:  # json's own error and UnicodeDecodeError are both ValueError
        raise ContractError(f"request: not readable as JSON ({str(error)[:100]})") from None


async def _limited(request: Request, limits: Limits, end: bytes = b"") -> AsyncGenerator[bytes, None]:
    """The body's chunks; counted, as the length that a client states need not be true. `end` must come last."""
    message = f"request: over {limits.body_bytes:,} bytes arrived; send smaller files"
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated[:20]) > limits.body_bytes:
        raise TooLargeError(message)
    num, tail = 0, b""
    async for chunk in request.stream():
        num += len(chunk)
        if num > limits.body_bytes:
            raise TooLargeError(message)
        tail = (tail + chunk[-_TAIL:])[-_TAIL:]
        yield chunk
    if end not in tail:  # the parser drops a last part without end, and says nothing
        raise ContractError("request: the multipart/form-data is cut short: its last boundary is missing")


async def _multipart(request: Request, limits: Limits, parameters: str) -> Submission:
    try:
        from python_multipart.multipart import parse_options_header  # noqa: PLC0415  (of the extras)
        from starlette.formparsers import MultiPartException, MultiPartParser  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("multipart/form-data", "serve") from None
    boundary = parse_options_header("a;" + parameters)[1].get(b"boundary", b"")[-_TAIL:]
    most = {"max_files": _MAX_PARTS, "max_fields": _MAX_PARTS, "max_part_size": limits.body_bytes}
    try:
        async with aclosing(_limited(request, limits, b"--" + boundary + b"--")) as stream:
            form = await MultiPartParser(request.headers, stream, **most).parse()
    except MultiPartException as error:
        raise ContractError(f"request: broken multipart/form-data: {error.message}") from None
    try:
        files, fields = {}, {}
        for name, value in form.multi_items():
            if name in files or name in fields:
                raise ContractError(f"request: {name[:40]!r} arrived twice; once is needed")
            if isinstance(value, UploadFile):
                files[name] = Upload(value.filename or "", await value.read())
            elif name in FILES:
                files[name] = Upload("", value.encode())
            else:
                fields[name] = value
        return Submission(files, fields)
    finally:
        await form.close()


def from_json(body: bytes) -> Submission:
    """A JSON object: files as base64, or `{"name": ..., "base64": ...}`; readings and cameras also as plain values.

    Raises:
        ContractError: it is not such an object.
    """
    content = _parsed(body)
    if not isinstance(content, dict):
        raise ContractError(f"request: a JSON object is needed, {type(content).__name__} arrived")
    files = {name: _file(name, value) for name, value in content.items() if name in FILES and value is not None}
    fields = {name: _text(name, value) for name, value in content.items() if name not in FILES and value is not None}
    return Submission(files, fields)


def _file(name: str, value: Any) -> Upload:
    if isinstance(value, dict) and "base64" in value:
        return Upload(str(value.get("name", "")), _bytes(name, value["base64"]))
    if isinstance(value, str):
        return Upload("", _bytes(name, value))
    if isinstance(value, dict | list) and name != "image":
        return Upload("", json.dumps(value).encode())
    raise ContractError(
        f'request: {name}: {type(value).__name__} arrived; base64 text is needed, or {{"name": FILE, "base64": TEXT}}'
    )


def _bytes(name: str, text: Any) -> bytes:
    if not isinstance(text, str):
        raise ContractError(f"request: {name}: base64 text is needed, {type(text).__name__} arrived")
    if text.startswith("data:"):  # as browsers make it
        text = text.partition(",")[2]
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ContractError(f"request: {name} is not base64 ({error})") from None


def _text(name: str, value: Any) -> str:
    """A field as a form would have it."""
    if isinstance(value, list):
        return ",".join(_text(name, str(each) if isinstance(each, list) else each) for each in value)
    if isinstance(value, dict):
        raise ContractError(f"request: {name[:40]!r}: an object arrived; text or a number is needed")
    return str(value).lower() if isinstance(value, bool) else str(value)
