"""`python -m mrac` is the command line."""

from mrac.cli import main

main()
