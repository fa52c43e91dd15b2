"""See `claims.page`."""

from mrac.lab.studies.claims.page import main

if __name__ == "__main__":
    main()
