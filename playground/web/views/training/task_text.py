"""Sequences of a task as text."""

from playground.text.pieces import visible
from playground.training.tasks import Task


def show_blanks(sequence: str, task: Task) -> str:
    """A sequence as a network reads it, with visible blanks where they are characters, as in an answer's labels."""
    return sequence.replace(" ", visible(" ")) if task.reads_text else sequence
