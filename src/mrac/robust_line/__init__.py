"""Robust straight lines y = a·x + b through K points: the compiled estimators under the gates and fits."""
