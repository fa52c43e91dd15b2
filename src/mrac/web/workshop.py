"""What the server keeps between requests, all of it in memory and bounded: scenes, predictions, outcomes."""

import logging
import threading
from dataclasses import replace
from typing import Final

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.errors import ContractError
from mrac.http import RequestError
from mrac.web.bounded import BoundedStore
from mrac.web.catalogue import COLUMNS, example_names
from mrac.web.choices import Menu
from mrac.web.examples import load_example
from mrac.web.outcome import Outcome, compute
from mrac.web.predictions import MemoryPredictions
from mrac.web.recipe import Recipe
from mrac.web.scenes import Pool, Scene, new_id

SCENE_BYTES: Final = 400 << 20
PREDICTION_BYTES: Final = 200 << 20
OUTCOME_BYTES: Final = 400 << 20
MAX_REPAIRED: Final = 20_000
_LOG: Final = logging.getLogger("mrac.web")


class GoneError(RequestError):
    """A scene or result is asked for that is no longer, or was never, in memory."""

    status = 404


class Workshop:
    """Scenes and results of all who use the page, the least recently used ones dropped. Threads may share it.

    Args:
        menu: what may be computed.
    """

    def __init__(self, menu: Menu) -> None:
        self.menu = menu
        self.predictions = MemoryPredictions(PREDICTION_BYTES)
        self._scenes: BoundedStore[Scene] = BoundedStore(SCENE_BYTES)
        self._outcomes: BoundedStore[Outcome] = BoundedStore(OUTCOME_BYTES)
        self._examples: dict[str, Scene] = {}
        self._lock = threading.Lock()

    def example(self, name: str) -> Scene:
        """A scene of its own of a shipped example, which is read once.

        Raises:
            ContractError: there is none of that name.
        """
        return self.keep(replace(self.picture_of(name), id=new_id()))

    def picture_of(self, name: str) -> Scene:
        """A shipped example to look at; nothing is kept of it."""
        with self._lock:
            if name not in self._examples:
                self._examples[name] = load_example(name)
            return self._examples[name]

    def keep(self, scene: Scene) -> Scene:
        """Stores a scene under its id."""
        self._scenes.put(scene.id, scene, scene.num_bytes)
        return scene

    def scene(self, key: str) -> Scene:
        """The scene of that id.

        Raises:
            GoneError: there is none.
        """
        found = self._scenes.get(key)
        if found is None:
            raise GoneError(
                "scene: it is no longer in memory (the server was restarted, or has made room); load it again"
            )
        return found

    def add_readings(self, key: str, anchors: Anchors, name: str, kind: str, camera: Camera | None) -> Scene:
        """The scene with these readings in place of its own, in pixels of the original picture."""
        return self.keep(self.scene(key).with_pool(anchors, name, kind, camera))

    def repair(self, key: str, name: str) -> Scene:
        """The scene with a mistake put right that a warning names: all readings of its file are changed, not one.

        Raises:
            ContractError: the mistake cannot be put right here, or there are too many readings to look at.
        """
        scene = self.scene(key)
        pool = scene.pool
        if pool is None or len(pool.anchors) > MAX_REPAIRED:
            count = 0 if pool is None else len(pool.anchors)
            raise ContractError(f"repair: a file of 1 to {MAX_REPAIRED:,} readings is needed, there are {count:,}")
        calibrator = self.menu.calibrator(Recipe(), self.predictions)
        fixed = calibrator.fixed(scene.image, pool.anchors, [name], camera=scene.camera)
        return self.keep(replace(scene, pool=Pool(fixed, pool.name, pool.kind, pool.shape)))

    def drop_readings(self, key: str) -> Scene:
        """The scene without readings but those that are clicked."""
        return self.keep(replace(self.scene(key), pool=None))

    def outcome(self, scene: Scene, recipe: Recipe) -> Outcome:
        """The result of a recipe, computed unless it is still there.

        Raises:
            ContractError: the recipe asks for what is not offered, or the library refuses the call.
        """
        found = self._outcomes.get(recipe.key(scene))
        if found is None:
            found = compute(scene, recipe, self.menu, self.predictions)
            self._outcomes.put(found.key, found, found.num_bytes)
        return found

    def result(self, key: str) -> Outcome:
        """An earlier result by its id.

        Raises:
            GoneError: there is none.
        """
        found = self._outcomes.get(key)
        if found is None:
            raise GoneError("result: it is no longer in memory; move a slider to compute it again, then download")
        return found

    def warm_up(self) -> None:
        """Loads or compiles every kernel and network that the first view needs, on the first example."""
        try:
            scene = self.picture_of(next(iter(example_names())))
            for method, _ in reversed(COLUMNS):  # the default has kernels to compile; what it waits for comes first
                compute(scene, Recipe(method=method, share=0.25), self.menu, self.predictions)
        except Exception:
            # The same call of a user's gives the error in the page; a background thread has nobody to tell it to.
            _LOG.exception("mrac web: warm-up failed")
