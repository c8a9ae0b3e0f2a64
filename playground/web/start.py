"""Preparations before the first visitor comes, and memory given back once all have left."""

import asyncio
import ctypes
import gc
import importlib
import logging
import pkgutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import playground
from playground.errors import ClusterError, WeightsError
from playground.web.session.caches import APP, checkpoint_available
from playground.web.session.experiments import machine_speed
from playground.web.session.services import Services, services

logger = logging.getLogger(__name__)

_SCRIPTS = ("playground.__main__", "playground.web.app")

TRAINING_AFTER = 15.0
"""Seconds after the start: by then the first visitors have their pages."""

FILE_THREADS = 32


def prepare() -> None:
    """Load what pages need, and the shipped models, then freeze them for the garbage collector."""
    with ThreadPoolExecutor(1) as beside:
        loading = beside.submit(checkpoint_available)  # a file's checksum leaves the interpreter free for imports
        for module in pkgutil.walk_packages(playground.__path__, f"{playground.__name__}."):
            if not module.name.startswith(_SCRIPTS):
                importlib.import_module(module.name)
    loading.result()
    with suppress(WeightsError):  # the page Encoder-decoder says it
        APP.translator()
    with suppress(ClusterError):  # it is in the log, and a run tries again
        services().pool.connect()
    gc.collect()
    gc.freeze()
    gc.collect()


async def prepare_training(after: float = TRAINING_AFTER) -> None:
    """Load what the first optimiser needs, and measure this machine's speed."""
    await asyncio.sleep(after)
    try:
        await asyncio.to_thread(importlib.import_module, "torch._dynamo")
        await asyncio.to_thread(services().turns.defer(machine_speed))  # a turn before the lock of its cache
    except Exception:
        logger.exception("The machine's speed could not be measured ahead of the first training")


async def release_when_empty(here: Services) -> None:
    """Release the memory each time that nobody has been here for long enough."""
    visitors, seconds = here.visitors, here.settings.release_after
    while True:
        await asyncio.sleep(min(1.0, seconds / 4))
        left = visitors.last_left
        if left is not None and not visitors.open and time.monotonic() - left >= seconds:
            visitors.last_left = None
            await asyncio.to_thread(release_memory, here)


def release_memory(here: Services) -> None:
    """Forget what visitors computed, and return free memory to the system."""
    here.results.clear()
    here.pool.forget_results()
    gc.collect()
    gc.freeze()  # what is left belongs to modules that were loaded after the start, as `prepare` freezes the others
    with suppress(AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
    logger.info("Nobody is here: what visitors computed was released")
