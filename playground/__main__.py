"""`python -m playground "a sentence" --layers 2`: an encoder and its attention in the terminal."""

import sys

from playground.command_line import main

sys.exit(main())
