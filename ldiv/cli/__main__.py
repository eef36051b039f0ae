"""python -m ldiv.cli: the command ldiv."""

from ldiv.cli import main

if __name__ == "__main__":
    main()
