"""See `beyond.page`."""

from mrac.lab.studies.beyond.page import main

if __name__ == "__main__":
    main()
