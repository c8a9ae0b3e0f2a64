"""Preparations before the first visitor comes, and memory given back once all have left."""

import asyncio
import contextlib
import gc
import importlib
import logging
import os
import pkgutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from streamlit.runtime import exists, get_instance
from streamlit.version import STREAMLIT_VERSION_STRING

import playground
from playground.errors import ClusterError
from playground.web.server.monitoring import Readiness
from playground.web.session.caches import checkpoint_available, translator
from playground.web.session.experiments import machine_speed
from playground.web.session.memory_budget import trim_heap
from playground.web.session.services import Services, services

logger = logging.getLogger(__name__)

_LEFT_OUT = ("playground.__main__", "playground.web.app")
"""Beginnings of modules that no start needs: scripts."""

TRAINING_AFTER = 15.0
"""Seconds after the start when what only trainings need is loaded: by then the first visitors have their pages."""


def prepare() -> None:
    """Load what pages need, the default model and the shipped one, then freeze them for the garbage collector.

    Streamlit's own collection after every run is off (`runner.postScriptGC`); Python's own remains. Its full
    collections wait until the objects of middle age are a quarter of the old ones. Almost all of the quarter million
    old objects belong to modules and live as long as the server does. Frozen, they are neither visited nor counted;
    the last collection here starts the count anew, so that what visitors leave behind is collected soon.
    """
    with ThreadPoolExecutor(1) as beside:
        loading = beside.submit(checkpoint_available)  # a file's checksum leaves the interpreter free for imports
        for module in pkgutil.walk_packages(playground.__path__, f"{playground.__name__}."):
            if not module.name.startswith(_LEFT_OUT):
                importlib.import_module(module.name)
    loading.result()
    need_no_temporary_folder()
    translator()
    connect_cluster()
    gc.collect()
    gc.freeze()
    gc.collect()


async def prepare_training(after: float = TRAINING_AFTER) -> None:
    """Load what an optimiser needs, and measure this machine's speed; who trains earlier has it measured then.

    The first optimiser loads a good part of torch, which takes longer than a page, and no page but Training and
    Regularisers asks for it.
    """
    await asyncio.sleep(after)
    try:
        await asyncio.to_thread(importlib.import_module, "torch._dynamo")  # before the measurement takes a turn
        await asyncio.to_thread(machine_speed)
    except Exception:
        logger.exception("The machine's speed could not be measured ahead of the first training")


def need_no_temporary_folder() -> None:
    """Where nothing can be written, as the disk is full, give torch a folder for what it would compile.

    Nothing is ever compiled here; but torch wants a name for that folder before its first optimiser.
    """
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        logger.warning("No temporary folder can be written to: the app reads uploads in memory, one at a time")
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(playground.__file__).parent))


def connect_cluster() -> None:
    """Connect to the cluster that trains, if there is one; a run tries again where that fails."""
    with contextlib.suppress(ClusterError):  # it is in the log
        services().pool.connect()


async def release_when_empty(here: Services) -> None:
    """Release the memory each time that nobody has been here for long enough; ends when it is cancelled.

    Whether that works is tried at once, while nobody is here yet, and the readiness has what failed last.
    """
    visitors, seconds = here.visitors, here.settings.release_after
    _release(drop_expired_sessions, here.readiness)
    while True:
        await asyncio.sleep(min(1.0, seconds / 4))
        left = visitors.last_left
        if left is not None and not visitors.open and time.monotonic() - left >= seconds:
            visitors.last_left = None
            await asyncio.to_thread(_release, partial(release_memory, here), here.readiness)


def _release(release: Callable[[], None], readiness: Readiness) -> None:
    try:
        release()
    except Exception as error:
        logger.exception("Not everything could be released")
        readiness.release_failure = f"Memory could not be released: {error}"
    else:
        readiness.release_failure = None


def release_memory(here: Services) -> None:
    """Forget what visitors computed, and hand free memory back to the system; what `prepare` loaded stays.

    Raises:
        RuntimeError: expired sessions stay, as `drop_expired_sessions`; all else is released.
    """
    try:
        drop_expired_sessions()
    finally:
        here.forget_results()
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
