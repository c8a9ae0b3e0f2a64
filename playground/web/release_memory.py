"""Gives back the memory of what visitors computed, once all of them have left."""

import asyncio
import gc
import logging
import time
from contextlib import suppress

from streamlit.runtime import get_instance

from playground.web.server.heap import trim_heap
from playground.web.server.visitors import Visitors
from playground.web.session.caches import RANDOM_WEIGHTS
from playground.web.session.experiments import RUNS
from playground.web.session.kept_networks import KEPT
from playground.web.session.weights_cache import clear_shared_caches

logger = logging.getLogger(__name__)


async def release_when_empty(visitors: Visitors, seconds: float) -> None:
    """Release the memory each time that nobody has been here for so many seconds; ends when it is cancelled."""
    while True:
        await asyncio.sleep(min(1.0, seconds / 4))
        KEPT.drop_expired()
        left = visitors.last_left
        if left is not None and not visitors.open and time.monotonic() - left >= seconds:
            visitors.last_left = None
            try:
                await asyncio.to_thread(release_memory)
            except Exception:
                logger.exception("Not everything could be released")


def release_memory() -> None:
    """Forget what visitors computed, and hand free memory back to the system; what `prepare` loaded stays."""
    drop_expired_sessions()
    clear_shared_caches()
    RANDOM_WEIGHTS.clear()
    RUNS.forget_results()
    gc.collect()
    gc.freeze()  # what is left belongs to modules that were loaded after the start, as `prepare` freezes the others
    trim_heap()
    logger.info("Nobody is here: what visitors computed was released")


def drop_expired_sessions() -> None:
    """Let go of sessions that nobody can come back to; Streamlit itself does that when the next visitor leaves."""
    with suppress(AttributeError, RuntimeError):  # no public way leads there, and without a server there are none
        get_instance()._session_mgr._session_storage._cache.expire()  # type: ignore[attr-defined]
