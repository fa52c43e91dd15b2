"""Studies: one script each, `python -m mrac.lab.studies.NAME`."""
