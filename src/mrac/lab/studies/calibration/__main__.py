"""See `calibration.run`."""

from mrac.lab.studies.calibration.run import main

if __name__ == "__main__":
    main()
