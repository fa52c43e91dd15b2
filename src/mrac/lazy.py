"""A property that is computed on first use and kept, without a lock."""

from functools import cached_property
from typing import Any, TypeVar, cast

_Value = TypeVar("_Value")


class computed_once(cached_property[_Value]):  # noqa: N801  (a decorator, named as such)
    """As `functools.cached_property` of Python 3.12; two threads may both compute it, and then have the same value.

    Up to 3.11 that one holds a lock, shared by all objects of a class, while it computes: frames of a stream wait for
    each other, and a process forked meanwhile waits for ever.
    """

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        """The value, which from now on is in the object's own `__dict__`, where Python looks first."""
        if instance is None:
            return self
        value = self.func(instance)
        instance.__dict__[cast(str, self.attrname)] = value
        return value
