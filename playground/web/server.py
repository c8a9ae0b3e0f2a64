"""Around Streamlit's server: an ASGI layer that refuses what no page asks for, and the operator's settings."""

import base64
import hashlib
import logging
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from playground.limits import LINK_FIELDS, MAX_ADDRESS
from playground.pages import MOVED
from playground.runs.budget import MAX_PARAMETERS
from playground.weights import hub

logger = logging.getLogger(__name__)

ALLOWED_KINDS = frozenset(
    {
        "rerun_script",  # a page is opened, or a widget changed
        "stop_script",  # the button beside a running page
        "file_urls_request",  # before an upload
        "app_heartbeat",  # from a page that holds this one in a frame
        "backend_operation_request.deferred_file",  # a download that is made when its button is pressed
    }
)
"""Kinds of messages that pages send; `clear_cache` would end everybody's training."""

MOST_FILES = 16

PATIENCE = 20

_NOT_A_MESSAGE, _POLICY = 1002, 1008  # RFC 6455, section 7.4.1

PROBES = ("/_stcore/health", "/_stcore/metrics", "/ready", "/operators/metrics")
"""Paths that a balancer asks for by the machine's address."""

RETRY_AFTER = 10
"""Seconds after which a refused page load tries again."""

FULL = (
    f"The playground is full right now. This page tries again every {RETRY_AFTER} seconds; your link keeps everything "
    "you set."
)


@dataclass
class Visitors:
    """The open pages, of which there may be `limit`."""

    limit: int
    open: int = 0
    last_left: float | None = None
    """When the last of them left, by `time.monotonic`."""
    loaded: bool = False
    """Whether the server has loaded its models."""

    @property
    def is_full(self) -> bool:
        """Whether nobody else may come in."""
        return self.open >= self.limit


class Protection:
    """Refuse what no page asks for, and more visitors than the server takes; add the security headers."""

    def __init__(self, app: ASGIApp, visitors: Visitors, frame_ancestors: str = "'self'", base: str = "") -> None:
        self.app, self.visitors, self.base = app, visitors, f"/{base.strip('/')}".rstrip("/")
        self.headers = {
            "Content-Security-Policy": content_security_policy(frame_ancestors),
            "X-Content-Type-Options": "nosniff",
            # A link holds the student's text: it must not travel on to the sites a page links to.
            "Referrer-Policy": "no-referrer",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        is_socket = scope["type"] == "websocket"
        is_stream = is_socket and scope["path"].endswith("/_stcore/stream")
        is_page = not is_socket and "text/html" in Headers(scope=scope).get("accept", "")
        answer = _refuse_foreign(scope) or (self._answer_page(scope) if is_page else None)
        if answer is None and (is_stream or is_page) and self.visitors.is_full:
            headers = {"Retry-After": str(RETRY_AFTER), "Refresh": str(RETRY_AFTER), "Cache-Control": "no-store"}
            answer = PlainTextResponse(FULL, 503, headers)
        if answer is not None:
            if is_socket:
                await receive()  # the connect message, which ASGI has us read before answering
            await answer(scope, receive, send_with_headers)
            return
        if is_socket:  # Streamlit would ask an outside service for this machine's address to check the origin
            scope = {**scope, "headers": [header for header in scope["headers"] if header[0] != b"origin"]}
        await (self._serve_stream if is_stream else self.app)(scope, receive, send_with_headers)

    def _answer_page(self, scope: Scope) -> Response | None:
        query = scope["query_string"].decode("latin-1")
        if len(scope["path"]) + len(query) > MAX_ADDRESS or query.count("&") >= LINK_FIELDS:
            sentence = (
                f"This link is too long: the playground takes {MAX_ADDRESS:,} characters and {LINK_FIELDS:,} "
                "parameters. Whoever made it can save it as a file instead, with the button “Copy link to this view”."
            )
            return PlainTextResponse(sentence, 414)
        name = scope["path"].removeprefix(self.base).strip("/")
        if name not in MOVED:
            return None
        page, parameters = MOVED[name]
        moved = "&".join(filter(None, (urlencode(parameters), query)))
        return RedirectResponse(f"{self.base}/{page}?{moved}")

    async def _serve_stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count an open page; drop messages that no page sends, and close connections that send many, or garbage."""
        n_refused, is_closed = 0, False

        async def receive_allowed() -> Message:
            nonlocal n_refused, is_closed
            while True:
                event = await receive()
                kind = kind_of(event.get("bytes"))
                if event["type"] != "websocket.receive" or kind in ALLOWED_KINDS:
                    return event
                n_refused += 1
                if n_refused == 1:
                    logger.warning("refused message kind=%s", kind or "none")
                if not kind or n_refused > PATIENCE:
                    is_closed, code = True, _POLICY if kind else _NOT_A_MESSAGE
                    await send({"type": "websocket.close", "code": code, "reason": "No page sends this."})
                    return {"type": "websocket.disconnect", "code": code}

        async def send_if_open(message: Message) -> None:
            if not is_closed:
                await send(message)

        self.visitors.open += 1
        try:
            await self.app(scope, receive_allowed, send_if_open)
        except WebSocketDisconnected:  # Streamlit sends to a visitor who has just left
            logger.info("a visitor left while a message was on its way")
        finally:
            self.visitors.open -= 1
            self.visitors.last_left = monotonic()


def _refuse_foreign(scope: Scope) -> Response | None:
    headers = Headers(scope=scope)
    origin, host = headers.get("origin"), headers.get("host")
    changes = scope["type"] == "websocket" or scope["method"] not in {"GET", "HEAD", "OPTIONS"}
    if not is_host_allowed(host) and not scope["path"].rstrip("/").endswith(PROBES):
        return PlainTextResponse("The playground is not served under this name.", 403)
    if changes and origin is not None and not is_own_origin(origin, host or ""):
        return PlainTextResponse("The playground takes no requests from pages of other sites.", 403)
    return None


def is_own_origin(origin: str, host: str) -> bool:
    """Return whether an `Origin` has this `Host` and port, or Streamlit's settings allow it."""
    if not config.get_option("server.enableCORS") or origin in config.get_option("server.corsAllowedOrigins"):
        return True
    try:
        page, server = urlsplit(origin), urlsplit(f"//{host}")
        usual = {"http": 80, "https": 443}[page.scheme]
        return bool(page.hostname) and (page.hostname, page.port or usual) == (server.hostname, server.port or usual)
    except (KeyError, ValueError):  # another scheme, "null", or no port
        return False


def kind_of(data: bytes | None) -> str:
    """Return the kind of a browser's message; empty if it is none."""
    try:
        message = BackMsg.FromString(data or b"")
    except Exception:  # protobuf's own error, of a package that is Streamlit's
        return ""
    kind = message.WhichOneof("type") or ""
    if kind == "backend_operation_request":
        return f"{kind}.{message.backend_operation_request.WhichOneof('payload')}"
    if kind == "file_urls_request" and len(message.file_urls_request.file_names) > MOST_FILES:
        return f"{kind} for many files"
    return kind


def content_security_policy(frame_ancestors: str) -> str:
    """Return the policy of a page: no `eval`, no other host; `blob:` scripts are inline components."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'self'; script-src 'self' blob: {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'; "
        f"frame-ancestors {frame_ancestors}"
    )


# --- what operators set


@dataclass(frozen=True)
class Settings:
    """The operator's choices; a field's variable is PLAYGROUND_ and its name in capitals."""

    max_parameters: int = MAX_PARAMETERS
    """Largest model that is run, in parameters; counting has no limit."""
    max_sessions: int = 200
    """Pages open at once."""
    device: str = "auto"
    """Where models run: "auto" (CUDA where present), "cpu", "cuda" or "cuda:<index>"."""
    threads: int = 1
    """CPU threads of one pass; more help large models, as long as visitors don't share."""
    frame_ancestors: str = "'self'"
    """Who may show the app in a frame, as in the directive of this name."""
    busy_timeout: float = 20.0
    """Seconds that a visitor waits for a turn to compute."""
    max_own_weights: int = 1_000_000_000
    """Bytes of the weights that visitors have opened, train or have trained, and models made of them."""
    max_cached: int = 1_200_000_000
    """Bytes of results that all visitors share; the least recently used go first."""
    release_after: float = 150.0
    """Seconds without any visitor after which results are dropped; Streamlit keeps a session for 120."""
    max_trainings: int = field(default_factory=lambda: max(1, (os.cpu_count() or 1) // 2))
    """Networks that train at once; others wait in a queue."""
    max_training_seconds: float = 300.0
    """Longest training, by the estimate before its start."""
    max_shared_bytes: int = 200_000_000
    """Bytes of finished runs that are kept for whoever starts the same one."""
    ray: str = ""
    """The Ray cluster that trains: "auto", "local" or host:port; empty: this process trains."""
    ray_cpus: float = 1.0
    """Cores of one training there."""
    ray_gpus: float = 0.0
    """GPUs of one training there."""
    hub_models: tuple[str, ...] = ()
    """Models of the Hugging Face hub that visitors may open."""
    results_key: str = field(default="", repr=False)
    """The secret that signs a lesson's results; empty: they are not signed."""


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings of `environ`; a value that makes no sense is logged, and the default is used."""
    values = {}
    for name, default in vars(Settings()).items():
        variable = f"PLAYGROUND_{name.upper()}"
        if variable in environ:
            try:
                values[name] = _parse(name, environ[variable].strip(), default)
            except ValueError as error:
                logger.warning("%s is ignored, %r is used: %s", variable, default, error)
    return Settings(**values)


def _parse(name: str, text: str, default: Any) -> Any:
    if isinstance(default, tuple):
        models = tuple(dict.fromkeys(text.replace(",", " ").split()))
        for model in models:
            hub.check_name(model)
        return models
    if isinstance(default, str):
        if not (text and text.isascii() and text.isprintable()) or set(text) & set(";,"):
            raise ValueError("it is empty, or has characters that no setting has")
        return text
    value = type(default)(text)
    if not 0 < value < math.inf and not (name == "ray_gpus" and value == 0):
        raise ValueError(f"{value} is not a number above 0")
    return value
