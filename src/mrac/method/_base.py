"""A method: one named choice for every stage."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Method:
    """Each stage is a spec as `registry.create` takes it: a name, or `name:option=value`.

    Attributes:
        foundation: where relative depth comes from.
        gate: which anchors are trusted.
        fit: the closed-form line.
        head: from the line to dense depth.
        space: in which the line is fitted; empty takes the relative field's own.
    """

    foundation: str = "embedded"
    gate: str
    fit: str
    head: str
    space: str = ""
