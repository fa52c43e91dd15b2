"""The nearest anchor's depth everywhere; no network."""

from mrac.method._base import Method

IMPLEMENTATION = Method(foundation="none", gate="none", fit="ols", head="nearest", space="depth")
