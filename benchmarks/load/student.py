"""One visitor without a browser: opens pages, changes widgets and waits for the answer, as Streamlit's front end does.

It keeps what the front end keeps: the widgets on the page by key, the values that the visitor has set, the query string
and the clocks of fragments that run by themselves. It draws nothing.
"""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake

LONGEST = 60.0
"""Seconds after which an answer counts as missing."""

_KEY = re.compile(r"\$\$ID-[0-9a-f]+-(\w+)")
"""A widget's id ends with the key that the page gave it."""


class LoadError(Exception):
    """The server gave no answer, or an error."""


@dataclass(frozen=True)
class _Widget:
    id: str
    kind: str
    fragment: str
    is_disabled: bool
    drawn: Any
    """What the server said of it."""


@dataclass
class _Wait:
    """For the end of a run that answers: of the whole script, or of this fragment."""

    fragment: str
    done: asyncio.Future[None]


class Student:
    """A visitor's connection; `received` counts the bytes of its messages."""

    def __init__(self, socket: ClientConnection, page: str, query: str) -> None:
        self.received = 0
        self.query = query
        self.page = page
        self.widgets: dict[str, _Widget] = {}
        self.alerts: list[str] = []
        """What the page says in boxes since it was drawn anew."""
        self.progress = ""
        """What stands beside the latest progress bar."""
        self._socket = socket
        self._pages: dict[str, str] = {}
        self._page_hash = ""
        self._session = ""
        self._values: dict[str, WidgetState] = {}
        self._waits: list[_Wait] = []
        self._files: dict[str, asyncio.Future[str]] = {}
        self._clocks: dict[str, asyncio.Task[None]] = {}
        self._listener = asyncio.create_task(self._listen())

    async def open(self) -> float:
        """Load the page as a browser does that follows a link; returns seconds until all of it has come."""
        return await self._run()

    async def go(self, page: str) -> float:
        """Choose another page in the menu."""
        if page not in self._pages:
            raise LoadError(f"no page {page}")
        self.page, self._page_hash = page, self._pages[page]
        return await self._run()

    async def set(self, key: str, value: str | float | bool) -> float:
        """Give a text field, a slider or a choice another value; returns seconds until the answer has come."""
        widget = self._widget(key)
        state = WidgetState(id=widget.id)
        match widget.kind, value:
            case "popover" | "expandable", bool():
                state.bool_value = value
            case "slider", float():
                state.double_array_value.data.append(value)
            case "slider" | "button_group", str():
                state.string_array_value.data.append(value)
            case _, str():
                state.string_value = value
        self._values[widget.id] = state
        return await self._run(widget.fragment)

    async def press(self, key: str) -> float:
        """Press a button."""
        widget = self._widget(key)
        return await self._run(widget.fragment, WidgetState(id=widget.id, trigger_value=True))

    async def save(self, key: str) -> tuple[float, str]:
        """Press a button whose file is made then; returns seconds until that is done, and what went wrong, if any."""
        message = BackMsg()
        request = message.backend_operation_request
        request.request_id = f"{key} {len(self._files)}"
        request.session_id = self._session
        request.deferred_file.file_id = self._widget(key).drawn.deferred_file_id
        made = self._files[request.request_id] = asyncio.get_running_loop().create_future()
        started = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        try:
            error = await asyncio.wait_for(made, LONGEST)
        except TimeoutError:
            raise LoadError(f"no file within {LONGEST:.0f} s") from None
        return time.perf_counter() - started, error

    async def click_cell(self, container: str, row: int, column: int) -> float:
        """Click a cell of a chart."""
        widget = self._widget(f"{container}_frame")
        click = json.dumps({"event": "clicked", "value": [row, column]})
        trigger = WidgetState(id=f"$$STREAMLIT_INTERNAL_KEY_{widget.id}__events", json_trigger_value=click)
        return await self._run(widget.fragment, trigger)

    async def send(self, message: BackMsg) -> None:
        """Send any message, and wait for no answer."""
        await self._socket.send(message.SerializeToString())

    async def leave(self) -> None:
        """Close the page."""
        self._stop_clocks()
        self._listener.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listener
        await self._socket.close()

    def can_use(self, key: str) -> bool:
        """Whether the page has this widget, and it is not grey."""
        return key in self.widgets and not self.widgets[key].is_disabled

    def _widget(self, key: str) -> _Widget:
        if not self.can_use(key):
            raise LoadError(f"no {key} to use on {self.page}, which says {self.alerts}")
        return self.widgets[key]

    async def _run(self, fragment: str = "", trigger: WidgetState | None = None) -> float:
        """Ask for a run of a fragment, or of the whole script; returns seconds until it has ended."""
        wait = _Wait(fragment, asyncio.get_running_loop().create_future())
        self._waits.append(wait)
        started = time.perf_counter()
        await self._send(fragment, trigger)
        try:
            await asyncio.wait_for(wait.done, LONGEST)
        except TimeoutError:
            raise LoadError(f"no answer within {LONGEST:.0f} s") from None
        finally:
            if wait in self._waits:
                self._waits.remove(wait)
        return time.perf_counter() - started

    async def _send(self, fragment: str, trigger: WidgetState | None = None, *, automatic: bool = False) -> None:
        message = BackMsg()
        run = message.rerun_script
        run.page_name, run.page_script_hash, run.query_string = self.page, self._page_hash, self.query
        run.fragment_id, run.is_auto_rerun = fragment, automatic
        run.widget_states.widgets.extend([*self._values.values(), *([trigger] if trigger else [])])
        await self._socket.send(message.SerializeToString())

    async def _listen(self) -> None:
        try:
            async for data in self._socket:
                self.received += len(data)
                self._take(ForwardMsg.FromString(data))
            problem = LoadError("the server closed the connection")
        except Exception as error:
            problem = LoadError(f"{type(error).__name__}: {error}")
        self._fail(problem)

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._session = message.new_session.initialize.session_id or self._session
        if kind == "delta":
            self._take_delta(message)
        elif kind == "backend_operation_response":
            answer = message.backend_operation_response
            if not self._files[answer.request_id].done():
                self._files[answer.request_id].set_result(answer.error_msg)
        elif kind == "navigation":
            self._pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            self._page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "new_session" and not message.metadata.run.fragment_ids:
            self.widgets.clear()
            self.alerts.clear()
            self._stop_clocks()
        elif kind == "auto_rerun":
            self._start_clock(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._stop_clock(fragment)
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self._fail(LoadError("the script does not compile"))
            ended = set(message.metadata.run.fragment_ids)
            answered = [wait for wait in self._waits if not ended or wait.fragment in ended]
            for wait in answered:
                if not wait.done.done():
                    wait.done.set_result(None)

    def _take_delta(self, message: ForwardMsg) -> None:
        element: Any = message.delta.new_element
        kind = element.WhichOneof("type")
        if message.delta.WhichOneof("type") == "add_block":
            element = message.delta.add_block
            kind = element.WhichOneof("type")
            kind = kind if kind in ("popover", "expandable") else None
        if kind == "exception":
            self._fail(LoadError(f"{element.exception.type}: {element.exception.message}"))
        if kind is None:
            return
        if kind == "alert":
            self.alerts.append(element.alert.body)
        if kind == "progress":
            self.progress = element.progress.text
        drawn = getattr(element, kind)
        if key := _KEY.fullmatch(getattr(drawn, "id", "")):
            is_disabled = getattr(drawn, "disabled", False)
            self.widgets[key[1]] = _Widget(drawn.id, kind, message.delta.fragment_id, is_disabled, drawn)

    def _fail(self, problem: LoadError) -> None:
        for wait in self._waits:
            if not wait.done.done():
                wait.done.set_exception(problem)

    def _start_clock(self, fragment: str, interval: float) -> None:
        if fragment not in self._clocks:
            self._clocks[fragment] = asyncio.create_task(self._repeat(fragment, interval))

    def _stop_clock(self, fragment: str) -> None:
        clock = self._clocks.pop(fragment, None)
        if clock is not None:
            clock.cancel()

    def _stop_clocks(self) -> None:
        for fragment in list(self._clocks):
            self._stop_clock(fragment)

    async def _repeat(self, fragment: str, interval: float) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await asyncio.sleep(interval)
                await self._send(fragment, automatic=True)


@contextlib.asynccontextmanager
async def visit(port: int, page: str, query: str = "") -> AsyncIterator[Student]:
    """A student whose connection is open; `open` loads the page."""
    address = f"ws://127.0.0.1:{port}/_stcore/stream"
    try:
        socket = await connect(address, subprotocols=["streamlit"], max_size=None, open_timeout=LONGEST)  # type: ignore[list-item]
    except (OSError, InvalidHandshake) as error:
        raise LoadError(str(error)) from None
    student = Student(socket, page, query)
    try:
        yield student
    finally:
        await student.leave()
