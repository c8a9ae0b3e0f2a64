"""`python -m playground "a sentence" --layers 2`: an encoder and its attention in the terminal."""

import sys

from playground.command_line import main

if __name__ == "__main__":  # the server imports every module before its first visitor
    sys.exit(main())
