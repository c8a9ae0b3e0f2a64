"""The server. Start it with `streamlit run streamlit_app.py`; the pages begin in playground/web/app.py."""
# ruff: noqa: E402 - what follows the imports of Python itself may log already

import asyncio
import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")  # as `logger` in .streamlit/config.toml
logging.captureWarnings(True)

import streamlit as st
import torch
from starlette.middleware import Middleware

from playground.errors import OUT_OF_MEMORY, is_out_of_memory
from playground.web.server.middleware import Protection
from playground.web.server.monitoring import ExpectedErrors, NamelessSessions, operator_routes
from playground.web.session.services import services

logger = logging.getLogger(__name__)

here = services()
logging.getLogger("streamlit.runtime.backend_operation_handler").addFilter(ExpectedErrors())
for name in ("websocket_session_manager", "app_session"):
    logging.getLogger(f"streamlit.runtime.{name}").addFilter(NamelessSessions())


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Set torch's threads, load the default model before the first visitor comes, and tidy up after the last."""
    # Imported here, because a cache is tied to the runtime that runs when it is made.
    from playground.web.start import FILE_THREADS, prepare, prepare_training, release_when_empty

    torch.set_num_threads(here.settings.threads)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(FILE_THREADS, "file"))
    try:
        prepare()
        here.visitors.loaded = True
    except Exception:
        logger.exception("Not everything could be loaded ahead of the first visitor")
    tasks = [asyncio.create_task(release_when_empty(here)), asyncio.create_task(prepare_training())]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.to_thread(here.pool.close)


def explain_script_error(error: Exception) -> bool:
    """Show a visitor one plain sentence; Streamlit has written the traceback to the log by now."""
    broken = "Something went wrong while drawing this page; your link still holds everything you set."
    st.error(OUT_OF_MEMORY if is_out_of_memory(error) else broken)
    return True


app = st.App(
    Path(__file__).resolve().parent / "playground" / "web" / "app.py",
    lifespan=lifespan,
    routes=operator_routes(here.visitors, here.meters),
    middleware=[
        Middleware(
            Protection,
            visitors=here.visitors,
            frame_ancestors=here.settings.frame_ancestors,
            base=st.get_option("server.baseUrlPath"),
        )
    ],
    on_script_error=explain_script_error,
)
