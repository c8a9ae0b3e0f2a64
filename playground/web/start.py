"""Preparations before the first visitor comes."""

import asyncio
import contextlib
import gc
import importlib
import logging
import os
import pkgutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import playground
from playground.errors import ClusterError
from playground.jobs.cluster import ClusterQueue
from playground.web.session.caches import checkpoint_available
from playground.web.session.experiment_inputs import machine_speed
from playground.web.session.experiments import BACKEND
from playground.web.session.shipped_translator import translator

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
    if isinstance(BACKEND, ClusterQueue):
        with contextlib.suppress(ClusterError):  # it is in the log
            BACKEND.connect()
