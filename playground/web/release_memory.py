"""Gives back the memory of what visitors computed, once all of them have left."""

import asyncio
import gc
import logging
import time
from collections.abc import Callable

from streamlit.runtime import exists, get_instance
from streamlit.version import STREAMLIT_VERSION_STRING

from playground.web.server.heap import trim_heap
from playground.web.server.operators import Readiness
from playground.web.server.visitors import Visitors
from playground.web.session.caches import RANDOM_WEIGHTS
from playground.web.session.experiments import RUNS
from playground.web.session.kept_networks import KEPT
from playground.web.session.weights_cache import clear_shared_caches

logger = logging.getLogger(__name__)


async def release_when_empty(visitors: Visitors, seconds: float, readiness: Readiness) -> None:
    """Release the memory each time that nobody has been here for so many seconds; ends when it is cancelled.

    Whether that works is tried at once, while nobody is here yet, and `readiness` has what failed last.
    """
    _release(drop_expired_sessions, readiness)
    while True:
        await asyncio.sleep(min(1.0, seconds / 4))
        KEPT.drop_expired()
        left = visitors.last_left
        if left is not None and not visitors.open and time.monotonic() - left >= seconds:
            visitors.last_left = None
            await asyncio.to_thread(_release, release_memory, readiness)


def _release(release: Callable[[], None], readiness: Readiness) -> None:
    try:
        release()
    except Exception as error:
        logger.exception("Not everything could be released")
        readiness.release_failure = f"Memory could not be released: {error}"
    else:
        readiness.release_failure = None


def release_memory() -> None:
    """Forget what visitors computed, and hand free memory back to the system; what `prepare` loaded stays.

    Raises:
        RuntimeError: expired sessions stay, as `drop_expired_sessions`; all else is released.
    """
    try:
        drop_expired_sessions()
    finally:
        _release_results()


def _release_results() -> None:
    clear_shared_caches()
    RANDOM_WEIGHTS.clear()
    RUNS.forget_results()
    gc.collect()
    gc.freeze()  # what is left belongs to modules that were loaded after the start, as `prepare` freezes the others
    trim_heap()
    logger.info("Nobody is here: what visitors computed was released")


def drop_expired_sessions() -> None:
    """Let go of sessions that nobody can come back to; Streamlit itself does that when the next visitor leaves.

    Raises:
        RuntimeError: this version of Streamlit keeps its sessions elsewhere, where no public way leads.
    """
    if not exists():
        return
    try:
        sessions = get_instance()._session_mgr._session_storage._cache  # type: ignore[attr-defined]
        sessions.expire()
    except AttributeError as error:
        raise RuntimeError(f"expired sessions are not where Streamlit {STREAMLIT_VERSION_STRING} had them") from error
