"""The server. Start it with `streamlit run streamlit_app.py`; the pages begin in playground/web/app.py."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
import torch
from starlette.middleware import Middleware

from playground.web.server.front_end import CompressedFiles, EarlyCharts
from playground.web.server.middleware import LocalMetrics, PagePath, SecurityHeaders, SessionCap, Visitors
from playground.web.server.operators import Readiness
from playground.web.server.settings import settings

logger = logging.getLogger(__name__)

visitors = Visitors(settings().max_sessions)
readiness = Readiness(visitors)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Sets torch's threads and loads the default model before the first visitor comes."""
    torch.set_num_threads(settings().threads)
    try:
        # Imported here, because a cache is tied to the runtime that runs when it is made.
        from playground.web.start import prepare

        prepare()
        readiness.loaded = True
    except Exception:
        logger.exception("Not everything could be loaded ahead of the first visitor")
    yield


def explain_script_error(_error: Exception) -> bool:
    """Shows a visitor one plain sentence; the traceback is in the log, where Streamlit has written it by now."""
    st.error("Something went wrong while drawing this page; your link still holds everything you set.")
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
