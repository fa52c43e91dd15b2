"""What we recommend today: the paper's gate, then kriging of the residual on the fit."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="theil_sen_mad", fit="ols", head="kriging")
