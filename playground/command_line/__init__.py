"""The playground in a terminal: a sentence and options in; tokens, shapes, parameters, attention and a link out."""

from playground.command_line.run_command import main

__all__ = ["main"]
