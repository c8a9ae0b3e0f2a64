"""The most memory that a server may take, from its limits; deploy/README.md explains each term."""

from playground.web.server import Settings
from playground.web.session.services import PLACES

BASE = 600_000_000
"""Bytes of Python, torch and the trained models, once they are loaded."""

PAGE = 1_000_000
"""Bytes that an open page keeps of itself: 0.3 MB, and room to spare."""

TRAINING_STEP = 600_000_000
"""Bytes of the numbers of a training's step, at most."""

SAVED_ATTENTION = 32_000_000
"""Bytes of the attention that a run saves on its way, at most."""

UPLOADS = 400_000_000
"""Bytes of two uploaded files of the largest size, until their pages have read them; nothing bounds their number."""

AT_WORK = 600_000_000
"""Bytes of the numbers of a page that is computed and drawn, about."""

FLOAT = 4


def memory_bound(chosen: Settings, *, trained: int = 0) -> int:
    """Bytes that a server on CPUs takes at most, with as many visitors as it lets in, of whom so many have trained."""
    model = FLOAT * chosen.max_parameters
    caches = chosen.max_cached + chosen.max_shared_bytes
    own = chosen.max_own_weights + UPLOADS + SAVED_ATTENTION * trained
    at_once = (PLACES + 1) * (model + AT_WORK) + TRAINING_STEP * chosen.max_trainings  # and the long place
    return BASE + caches + own + at_once + PAGE * chosen.max_sessions
