"""The addresses below /api that the page asks: examples, scenes, readings, results, downloads."""

import asyncio
import io
from pathlib import Path, PurePath
from typing import Any, Final

from anyio import to_thread
from PIL import Image
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mrac.anchors import Anchors
from mrac.anchors.sources import kind_of
from mrac.camera import Camera
from mrac.checks import FIXABLE
from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.http import Envelope, Limits, Submission, handlers, read_json, read_picture, read_readings, read_submission
from mrac.http.frame import check_count
from mrac.web.catalogue import BODY_BYTES, MAX_PIXELS, MAX_POOL
from mrac.web.colmap_upload import read_colmap
from mrac.web.downloads import TYPES, download
from mrac.web.outcome import Outcome, answer
from mrac.web.recipe import Recipe
from mrac.web.scenes import Scene
from mrac.web.workshop import Workshop

_THUMBNAIL_PX: Final = (240, 160)
_THINNED: Final = ("depth", "cloud")  # kinds of readings that may be dense beyond any use
_NO_STORE: Final = {"cache-control": "no-store"}
# Messages name fields of a request; the page has controls for them.
_WORDS: Final = {
    "the field camera FILE": "a camera file",
    "the field pose FILE": "a pose file",
    "the field camera": "a camera file",
    "the field pose": "a pose file",
    "the field from": "as what it is:",
    "--from": "as what it is:",
    "give it: the field anchors_scale": "choose its unit, as",
    "give it: scale=256 (the field anchors_scale)": "choose its unit",
}
LIMITS: Final = Limits(body_bytes=BODY_BYTES, pixels=MAX_PIXELS, anchors=MAX_POOL)


def create_api(workshop: Workshop, limits: Limits = LIMITS) -> Starlette:
    """The API as an ASGI application.

    Args:
        workshop: what is kept between requests.
        limits: of uploads.
    """
    return Starlette(
        routes=Routes(workshop, limits).routes(),
        middleware=[Middleware(Envelope, drain_bytes=limits.body_bytes)],
        exception_handlers=handlers(),
    )


class Routes:
    """Handlers of the page's requests. Work is done in threads, two calibrations at a time.

    Args:
        workshop: what is kept between requests.
        limits: of uploads.
    """

    def __init__(self, workshop: Workshop, limits: Limits) -> None:
        self.workshop = workshop
        self.limits = limits
        self._slots = asyncio.Semaphore(2)

    def routes(self) -> list[Route]:
        """Of all of them."""
        return [
            Route("/examples/{name}", self.open_example, methods=["POST"]),
            Route("/examples/{name}/thumbnail.jpg", self.thumbnail),
            Route("/scenes", self.upload_picture, methods=["POST"]),
            Route("/scenes/{scene}/image.png", self.picture),
            Route("/scenes/{scene}/readings", self.upload_readings, methods=["POST"]),
            Route("/scenes/{scene}/readings", self.drop_readings, methods=["DELETE"]),
            Route("/scenes/{scene}/repair", self.repair, methods=["POST"]),
            Route("/scenes/{scene}/results", self.calibrate, methods=["POST"]),
            Route("/results/{result}/{name}", self.download),
        ]

    async def open_example(self, request: Request) -> Response:
        """A scene of a shipped example."""
        scene = await to_thread.run_sync(self.workshop.example, request.path_params["name"])
        return await self._scene(scene)

    async def thumbnail(self, request: Request) -> Response:
        """A small picture of a shipped example."""
        content = await to_thread.run_sync(self._thumbnail, request.path_params["name"])
        return Response(content, media_type="image/jpeg", headers={"cache-control": "max-age=3600"})

    def _thumbnail(self, name: str) -> bytes:
        picture = Image.fromarray(self.workshop.picture_of(name).image)
        picture.thumbnail(_THUMBNAIL_PX)
        return _encoded(picture, format="JPEG", quality=85)

    async def upload_picture(self, request: Request) -> Response:
        """A scene of an uploaded picture."""
        submission = await read_submission(request, self.limits)
        if "image" not in submission.files:
            raise ContractError("request: no file `image`; a picture is needed")
        return await self._scene(await to_thread.run_sync(self._new_scene, submission))

    def _new_scene(self, submission: Submission) -> Scene:
        upload = submission.files["image"]
        return self.workshop.keep(Scene.of(read_picture(upload, self.limits), _title(upload.name)))

    async def picture(self, request: Request) -> Response:
        """The picture of a scene, at the size that is computed with."""
        scene = self.workshop.scene(request.path_params["scene"])
        content = await to_thread.run_sync(_png, scene.image)
        return Response(content, media_type="image/png", headers=_NO_STORE)

    async def upload_readings(self, request: Request) -> Response:
        """The readings of a scene, from a file of any sensor."""
        scene = self.workshop.scene(request.path_params["scene"])
        submission = await read_submission(request, self.limits)
        if not submission.files:
            raise ContractError("request: no file; readings are needed")
        anchors, camera, kind = await to_thread.run_sync(self._read, scene, submission)
        name = "the model" if kind == "colmap" else _title(submission.files["anchors"].name)
        changed = await to_thread.run_sync(self.workshop.add_readings, scene.id, anchors, name, kind, camera)
        return await self._scene(changed)

    def _read(self, scene: Scene, submission: Submission) -> tuple[Anchors, Camera | None, str]:
        if submission.fields.get("from") == "colmap":
            anchors = read_colmap(submission, scene.original_size)
            check_count(len(anchors), self.limits)
            return _some(anchors, "the model"), None, "colmap"
        if "anchors" not in submission.files:
            raise ContractError("request: no file `anchors`; readings are needed")
        name = submission.files["anchors"].name
        width, height = scene.original_size
        try:
            kind = submission.fields.get("from") or _kind(name)
            if kind in _THINNED and "max_anchors" not in submission.fields:
                submission.fields["max_anchors"] = str(self.limits.anchors)
            anchors, camera, sensor = read_readings(submission, (height, width), self.limits)
        except ContractError as error:
            message = str(error)
            for option, control in _WORDS.items():
                message = message.replace(option, control)
            raise ContractError(message) from None
        _some(anchors, _title(name))
        return (anchors if sensor is None else sensor.apply(anchors)), camera, kind

    async def drop_readings(self, request: Request) -> Response:
        """The scene without readings of a file."""
        return await self._scene(self.workshop.drop_readings(request.path_params["scene"]))

    async def repair(self, request: Request) -> Response:
        """The scene with a mistake put right, named as in the warnings."""
        given = await read_json(request, self.limits)
        name = given.get("name") if isinstance(given, dict) else None
        if name not in FIXABLE:
            raise ContractError(f"repair: {str(name)[:40]!r} arrived; one of {', '.join(FIXABLE)} is needed")
        return await self._scene(await to_thread.run_sync(self.workshop.repair, request.path_params["scene"], name))

    async def calibrate(self, request: Request) -> Response:
        """The result of a recipe: summary and maps in one answer (`outcome.answer`)."""
        scene = self.workshop.scene(request.path_params["scene"])
        recipe = Recipe.of(await read_json(request, self.limits))
        async with self._slots:
            # A slider that is dragged gives up one question after the other: what nobody waits for is not computed.
            if await request.is_disconnected():
                raise ClientDisconnect
            content = await to_thread.run_sync(self._calibrated, scene, recipe)
        return Response(content, media_type="application/octet-stream", headers=_NO_STORE)

    def _calibrated(self, scene: Scene, recipe: Recipe) -> bytes:
        return answer(self.workshop.outcome(scene, recipe))

    async def download(self, request: Request) -> Response:
        """A file of a result."""
        outcome: Outcome = self.workshop.result(request.path_params["result"])
        name = request.path_params["name"]
        content = await to_thread.run_sync(download, outcome, name)
        headers = {**_NO_STORE, "content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=TYPES[PurePath(name).suffix], headers=headers)

    async def _scene(self, scene: Scene) -> Response:
        return JSONResponse(await to_thread.run_sync(scene.summary), headers=_NO_STORE)


def _some(anchors: Anchors, name: str) -> Anchors:
    if not len(anchors):
        raise ContractError(f"anchors: {name} has no reading; at least one is needed")
    return anchors


def _kind(name: str) -> str:
    """By the suffix alone: a whole name could be that of a folder where the server was started."""
    suffix = PurePath(name).suffix.lower()
    return "table" if suffix == ".json" else kind_of(Path(f"the-file{suffix}"))


def _title(name: str) -> str:
    """A file's name, without its folders, for people."""
    plain = "".join(character for character in PurePath(name.replace("\\", "/")).name if character.isprintable())
    return plain[-60:] or "picture"


def _png(image: ImageArray) -> bytes:
    return _encoded(Image.fromarray(image), format="PNG", compress_level=1)


def _encoded(picture: Image.Image, **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, **options)
    return file.getvalue()
