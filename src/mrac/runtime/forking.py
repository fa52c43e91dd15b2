"""Processes and those that they start: locks at a fork, and the end of a worker whose parent was killed.

A fork copies every lock as it is, and of all threads the one that forks: a lock that another thread holds is held for
ever in the child, and a network's threads are not there.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any


def hold_at_fork(acquire: Callable[[], object], release: Callable[[], object]) -> None:
    """A fork waits until the lock is free: what it guards is whole in the child, and free."""
    if hasattr(os, "register_at_fork"):  # Windows has no fork
        os.register_at_fork(before=acquire, after_in_parent=release, after_in_child=release)


def call_in_child(function: Callable[[], object]) -> None:
    """Calls `function` in every forked process before anything else."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def abandon(thing: Any) -> None:
    """Keeps an object for ever: its destructor would wait for threads that a fork has not copied."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def die_with_parent() -> None:
    """Ends this process when the one that started it is gone: killed, it can tell nobody."""
    import multiprocessing  # noqa: PLC0415

    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()
