"""What we recommend: a gate that hears every witness, a fit that knows what to expect, then kriging of the residual."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="consensus_learned", fit="evidence", head="kriging")
