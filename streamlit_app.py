"""The server: `streamlit run streamlit_app.py`. The pages begin in playground/web/app.py."""
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

st.secrets.load_if_toml_exists()  # top-level secrets become environment variables, before settings are read

import torch
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.errors import OUT_OF_MEMORY, PlaygroundError, is_out_of_memory
from playground.web.server import Protection
from playground.web.session.services import services

logger = logging.getLogger(__name__)

here = services()


def hide_visitors(record: logging.LogRecord) -> bool:
    """Log a visitor's error by its kind alone, and no session's id, which opens its page."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, PlaygroundError):
        record.msg, record.args, record.exc_info = "refusal kind=%s", (type(error).__name__,), None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    elif {"session", "id"} <= {*str(record.msg).lower().split()} and isinstance(record.args, tuple):
        record.args = ("…",) * len(record.args)
    return True


for name in ("backend_operation_handler", "websocket_session_manager", "app_session"):
    logging.getLogger(f"streamlit.runtime.{name}").addFilter(hide_visitors)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Load models before the first visitor comes, and tidy up after the last."""
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
    """Show a visitor one plain sentence; the traceback is in the log."""
    broken = "Something went wrong while drawing this page; your link still holds everything you set."
    st.error(OUT_OF_MEMORY if is_out_of_memory(error) else broken)
    return True


async def say_ready(_request: Request) -> JSONResponse:
    """Tell a balancer whether one more visitor can come."""
    is_ready = here.visitors.loaded and not here.visitors.is_full
    return JSONResponse({"ready": is_ready}, 200 if is_ready else 503, headers={"Cache-Control": "no-store"})


def write_metrics(_request: Request) -> Response:
    """Tell Prometheus the counters."""
    return Response(generate_latest(here.meters.registry), media_type=CONTENT_TYPE_LATEST)


app = st.App(
    Path(__file__).resolve().parent / "playground" / "web" / "app.py",
    lifespan=lifespan,
    routes=[Route("/ready", say_ready), Route("/operators/metrics", write_metrics)],
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
