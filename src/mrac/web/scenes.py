"""Scenes of the page: a picture, the readings that there are to choose from, the camera."""

import secrets
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
from PIL import Image

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.conventions import FloatArray, ImageArray, in_image
from mrac.errors import ContractError

# Beyond it a slider is no longer answered within a second; a larger picture is made smaller, and its readings moved.
MAX_WORKING_PIXELS: Final = 1_500_000
MIN_SIDE: Final = 16
# Of the width: the focal length that our network takes a camera to have; shown as an assumption.
ASSUMED_FOCAL: Final = 0.9
_DENSE: Final = 0.1  # share of pixels with a reading, from which errors are stated against them


def new_id() -> str:
    """Of a scene; one that cannot be guessed: whoever has it may see the picture."""
    return secrets.token_urlsafe(12)


@dataclass(frozen=True, eq=False)
class Pool:
    """All readings of a scene, of which the page chooses K.

    Attributes:
        anchors: in pixels of the scene's picture.
        name: of the file they are from.
        kind: of `mrac.anchors.sources.SOURCES`.
        shape: (H, W) of the picture.
    """

    anchors: Anchors
    name: str
    kind: str
    shape: tuple[int, int]
    version: str = field(default_factory=lambda: secrets.token_hex(8))

    @cached_property
    def depth_m(self) -> FloatArray:
        """(H, W) metres at the pixels that have a reading, else NaN."""
        depth = np.full(self.shape, np.nan)
        uv_px, z_m = self.anchors.uv_px, self.anchors.z_m
        good = in_image(uv_px, self.shape[::-1]) & np.isfinite(z_m) & (z_m > 0.0)
        u, v = np.rint(uv_px[good]).astype(np.intp).T
        depth[v.clip(0, self.shape[0] - 1), u.clip(0, self.shape[1] - 1)] = z_m[good]
        return depth

    @cached_property
    def is_dense(self) -> bool:
        """Whether it is a depth image, against which errors of a result can be stated."""
        return bool(np.isfinite(self.depth_m).mean() >= _DENSE)

    @property
    def num_bytes(self) -> int:
        """In memory, about."""
        columns: int = sum(values.nbytes for values in vars(self.anchors).values() if values is not None)
        return columns + 8 * self.shape[0] * self.shape[1]  # and `depth_m`, once it is asked for


@dataclass(frozen=True, eq=False)
class Scene:
    """One picture with what is known of it; a change makes a new one.

    Attributes:
        title: its name or its file's.
        image: (H, W, 3) uint8.
        original_size: (width, height) before it was made smaller.
        pool: None while there are no readings but those that are clicked.
        camera: of the picture at its size, where it is known.
        credit: whose an example is, and its licence.
    """

    title: str
    image: ImageArray
    original_size: tuple[int, int]
    pool: Pool | None = None
    camera: Camera | None = None
    credit: str = ""
    id: str = field(default_factory=new_id)

    @classmethod
    def of(cls, image: ImageArray, title: str, credit: str = "") -> Self:
        """The scene of a picture, made smaller where it is beyond `MAX_WORKING_PIXELS`.

        Raises:
            ContractError: a side is under `MIN_SIDE` pixels.
        """
        height, width = image.shape[:2]
        if min(height, width) < MIN_SIDE:
            raise ContractError(f"{title}: {width}×{height} pixels arrived; at least {MIN_SIDE} each way are needed")
        factor = min(1.0, (MAX_WORKING_PIXELS / (height * width)) ** 0.5)
        pixels = np.ascontiguousarray(image)
        if factor < 1.0:
            size = max(round(width * factor), MIN_SIDE), max(round(height * factor), MIN_SIDE)
            pixels = np.array(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))
        return cls(title, pixels, (width, height), credit=credit)

    @property
    def size(self) -> tuple[int, int]:
        """(width, height)."""
        return self.image.shape[1], self.image.shape[0]

    @property
    def num_bytes(self) -> int:
        """In memory, about."""
        return self.image.nbytes + (0 if self.pool is None else self.pool.num_bytes)

    def with_pool(self, anchors: Anchors, name: str, kind: str, camera: Camera | None = None) -> "Scene":
        """The scene with readings in pixels of the original picture, and its camera where it came with them."""
        across, down = (now / before for now, before in zip(self.size, self.original_size, strict=True))
        if (across, down) != (1.0, 1.0):
            extent_px = None if anchors.extent_px is None else anchors.extent_px * (across, down)
            anchors = replace(anchors, uv_px=(anchors.uv_px + 0.5) * (across, down) - 0.5, extent_px=extent_px)
        known = self.camera if camera is None else camera.resized(*self.size)
        return replace(self, pool=Pool(anchors, name, kind, self.image.shape[:2]), camera=known)

    def camera_at(self, focal_px: float | None) -> Camera:
        """The camera, at another focal length where one is given; without any, an assumed one."""
        width, height = self.size
        if focal_px is None and self.camera is not None:
            return self.camera
        focal = ASSUMED_FOCAL * width if focal_px is None else focal_px
        return Camera(focal, focal, (width - 1) / 2, (height - 1) / 2, width, height)

    def summary(self) -> dict[str, Any]:
        """What the page shows of it."""
        pool = self.pool
        camera = self.camera_at(None)
        readings = None
        if pool is not None:
            readings = {
                "count": len(pool.anchors),
                "name": pool.name,
                "kind": pool.kind,
                "dense": pool.is_dense,
            }
        return {
            "id": self.id,
            "title": self.title,
            "credit": self.credit,
            "width": self.size[0],
            "height": self.size[1],
            "original_size": list(self.original_size),
            "readings": readings,
            "focal_px": camera.fx_px,
            "centre_px": [camera.cx_px, camera.cy_px],
            "focal_is_known": self.camera is not None,
        }
