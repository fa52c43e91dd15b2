"""Studies: one script or package each, `python -m mrac.lab.studies.NAME`."""
