"""Every claim of the paper, tested on finished runs: `python -m mrac.lab.studies.claims`."""
