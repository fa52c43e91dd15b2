"""What was asked of our own method, measured on finished runs: `python -m mrac.lab.studies.beyond`."""
