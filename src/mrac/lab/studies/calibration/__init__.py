"""Whether stated uncertainty is right: `python -m mrac.lab.studies.calibration`."""
