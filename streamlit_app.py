"""The server. Start it with `streamlit run streamlit_app.py`; the pages begin in playground/web/app.py."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
import torch
from starlette.middleware import Middleware

from playground.errors import OUT_OF_MEMORY, is_out_of_memory
from playground.web.server.front_end import CompressedFiles, EarlyCharts
from playground.web.server.middleware import LocalMetrics, PagePath, SecurityHeaders, SessionCap, Visitors
from playground.web.server.operators import Readiness
from playground.web.server.settings import settings

logger = logging.getLogger(__name__)

visitors = Visitors(settings().max_sessions)
readiness = Readiness(visitors)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Sets torch's threads, loads the default model before the first visitor comes, and tidies up after the last."""
    # Imported here, because a cache is tied to the runtime that runs when it is made.
    from playground.web.release_memory import release_when_empty
    from playground.web.session.downloads import give_downloads_threads
    from playground.web.start import prepare, prepare_training

    torch.set_num_threads(settings().threads)
    give_downloads_threads()
    try:
        prepare()
        readiness.loaded = True
    except Exception:
        logger.exception("Not everything could be loaded ahead of the first visitor")
    tasks = [
        asyncio.create_task(release_when_empty(visitors, settings().release_after)),
        asyncio.create_task(prepare_training()),
    ]
    yield
    for task in tasks:
        task.cancel()


def explain_script_error(error: Exception) -> bool:
    """Shows a visitor one plain sentence; the traceback is in the log, where Streamlit has written it by now."""
    broken = "Something went wrong while drawing this page; your link still holds everything you set."
    st.error(OUT_OF_MEMORY if is_out_of_memory(error) else broken)
    return True


FRONT_END = [
    Middleware(CompressedFiles, base=st.get_option("server.baseUrlPath")),
    Middleware(EarlyCharts),
]
"""The layers that make a first visit short, the outermost first."""

AROUND = [
    Middleware(SecurityHeaders, frame_ancestors=settings().frame_ancestors),
    Middleware(LocalMetrics),
    Middleware(PagePath, base=st.get_option("server.baseUrlPath")),
    Middleware(SessionCap, visitors=visitors),
]
"""The layers around Streamlit's server, the outermost first."""

app = st.App(
    Path(__file__).resolve().parent / "playground" / "web" / "app.py",
    lifespan=lifespan,
    routes=readiness.routes(),
    middleware=[*FRONT_END, *AROUND],
    on_script_error=explain_script_error,
)
