"""`python -m entailgrid`: the command line."""

from entailgrid.doors.cli import main

if __name__ == "__main__":
    main()
