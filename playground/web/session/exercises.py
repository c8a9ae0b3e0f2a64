"""The exercises that this server asks."""

from collections.abc import Mapping

from playground.learn.exercise import Exercise
from playground.learn.library import FOLDER, read_folders
from playground.web.session.weights_cache import load_once

FOLDERS = [FOLDER]
"""Where they lie."""


@load_once()
def shipped_exercises() -> Mapping[str, Exercise]:
    """The exercises by key; raises `InputError` where a file is none."""
    return read_folders(FOLDERS)
