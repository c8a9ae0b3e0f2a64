"""Files out and in: charts as pictures, numbers as CSV, single charts in frames (`only=`), and uploads."""

import logging
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.charts.chart import HeadGrid, HeadLines, LabelledBars
from playground.charts.draw import Drawn
from playground.charts.names import escape_markdown
from playground.errors import BusyError, PlaygroundError, explain
from playground.export.data import MOST_WEIGHTS, all_weights, numbers_of, rows_of, write_csv
from playground.link.query import VERSION
from playground.pages import PAGES
from playground.text.wording import quote_text, upper_first
from playground.web.choices.open_page import current_parameters, parameters_to_copy
from playground.web.choices.setup import current_setup
from playground.web.components import draw_picture_buttons, show_only
from playground.web.session.services import services
from playground.words import say

logger = logging.getLogger(__name__)

Rows = Callable[[], list[list[Any]]]
"""Makes the rows of a CSV file, a header first."""

ROOM = 260
"""Pixels for the focus line, a caption and the link beside a chart in a frame."""


def current_link() -> str:
    """Return the whole address of what is shown."""
    texts = parameters_to_copy(current_setup()) | current_parameters() | {"v": [VERSION]}
    address = urlsplit(st.context.url or "")
    return urlunsplit((address.scheme, address.netloc, address.path, urlencode(texts, doseq=True), ""))


def write_snippet(key: str, link: str, title: str, height: int) -> str:
    """Return the HTML of a frame with one chart, of `height` pixels."""
    source = f"{link}&{urlencode({'embed': 'true', 'only': key})}"
    attributes = f'title="{escape(title)}" width="100%" height="{height + ROOM}" loading="lazy" style="border: 0"'
    # In an attribute, HTML reads a plain `&` before a name and `=` as it is; other readers take `&amp;` for a name.
    return f'<iframe src="{escape(source).replace("&amp;", "&")}"\n        {attributes}></iframe>'


def draw_save_menu(drawn: Drawn, draw_more: Callable[[], None]) -> None:
    """Draw the menu of a chart: more, drawn only while it is open, and what saves it."""
    key = drawn.key
    label, icon = say("frame", "save"), ":material/more_vert:"
    menu = st.popover(label, icon=icon, type="tertiary", key=f"{key}_save_menu", on_change="rerun")
    if not menu.open:
        return
    name, rows = file_name(drawn.saved_as or key), _saved_rows(drawn)
    with menu:
        draw_more()
        with st.container(horizontal=True, gap="small"):
            if not isinstance(drawn.chart, HeadLines | LabelledBars):
                draw_picture_buttons(f"{key}_save_picture", chart=key, name=name)
            if rows is not None:
                _draw_csv_button(f"{key}_save_csv", name, rows)
        if rows is None:
            st.caption(say("frame", "too-many"))
        st.caption(say("frame", "embed", sites=services().settings.frame_ancestors))
        snippet = write_snippet(key, current_link(), drawn.alt, int(go.Figure(drawn.figure).layout.height or 400))
        st.code(snippet, language="html", wrap_lines=True)


def _saved_rows(drawn: Drawn) -> Rows | None:
    subject = drawn.subject
    match drawn.chart:
        case HeadGrid() as grid:
            queries, keys = grid.queries(subject), grid.keys(subject)
            if math.prod(grid.thumbnails(subject).shape[:2]) * len(queries) * len(keys) > MOST_WEIGHTS:
                return None
            return lambda: all_weights(grid.weights(subject), queries, keys)
        case HeadLines() as lines:
            return lambda: rows_of(lines.weights(subject))
    return lambda: numbers_of(go.Figure(drawn.figure))


def file_name(name: str) -> str:
    """Return a file name for any system: `layer 3, head 1` → `layer3_head1`."""
    return re.sub("[^a-z0-9_]+", "_", re.sub(r"(?<=[a-z]) (?=\d)", "", name.lower())).strip("_")


def draw_table_button(key: str, table: pd.DataFrame) -> None:
    """Draw the button that saves a table."""
    _draw_csv_button(f"{key}_copy_csv", f"{file_name(key)}_numbers", lambda: rows_of(table))


def _draw_csv_button(key: str, name: str, rows: Rows) -> None:
    make = services().turns.defer(lambda: write_csv(rows()))
    st.download_button("CSV", make, f"{name}.csv", "text/csv", key=key, on_click="ignore")


_NOTE = "single_chart"
"""Key of what the frame says beside the chart."""

_IS_MISSING: ContextVar[bool] = ContextVar("asked_chart_is_missing", default=False)


def asked_chart() -> str | None:
    """Return the key of the chart in the address, if any."""
    asked = st.query_params.get("only")
    if asked is None or not st.context.is_embedded:
        return None
    return (asked in PAGES and PAGES[asked].chart) or asked  # a page's path stands for its main chart


def begin_page() -> None:
    """Hide all but the asked chart."""
    asked = asked_chart()
    _IS_MISSING.set(asked is not None)
    with st.container():  # one element, with an asked chart or without
        if asked is not None:
            shown = [asked, "focus_line", "change_chips_line", _NOTE]
            show_only([key for key in shown if re.fullmatch(r"[a-z0-9_]+", key)])


def is_left_out(key: str) -> bool:
    """Return whether the address asks for another chart."""
    return asked_chart() not in (None, key)


def draw_way_out(key: str) -> None:
    """Draw a link to the whole page below the asked chart."""
    if asked_chart() == key:
        _IS_MISSING.set(False)
        st.caption(say("frame", "way-out", link=current_link()))


def end_page() -> None:
    """Say if the asked chart is not there."""
    if _IS_MISSING.get():
        with st.container(key=_NOTE):
            st.info(say("frame", "no-chart", link=current_link()))


def draw_uploader(label: str, name: str, read: Callable[..., None], **options: Any) -> None:
    """Draw an uploader with options of `st.file_uploader`; `read` takes its files."""
    st.file_uploader(label, key=uploader_key(name), on_change=partial(_open_files, name, read), **options)
    draw_problem(name)


def draw_problem(name: str) -> None:
    """Draw why the last file of an uploader, or of another widget, can't be used."""
    if problem_key(name) in st.session_state:
        st.error(st.session_state[problem_key(name)])


def _open_files(name: str, read: Callable[..., None]) -> None:
    files = take_files(name)
    if files:
        with explain_failure(problem_key(name), quote_text(max(files, key=lambda file: file.size).name)):
            read(*files)


def problem_key(name: str) -> str:
    """Return the session key of why the last file can't be used."""
    return f"_{name}_problem"


def uploader_key(name: str) -> str:
    """Return the key of an uploader, a new one after each file."""
    return f"{name}_{st.session_state.get(f'_{name}_uploads', 0)}"


def take_files(name: str) -> list[UploadedFile]:
    """Return the uploaded files, and free the server's copies."""
    uploaded: UploadedFile | list[UploadedFile] | None = st.session_state.get(uploader_key(name))
    files = uploaded if isinstance(uploaded, list) else [uploaded] if uploaded is not None else []
    if files:
        st.session_state[f"_{name}_uploads"] = st.session_state.get(f"_{name}_uploads", 0) + 1
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        for file in files:
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
    return files


@contextmanager
def explain_failure(problem: str, file: str) -> Iterator[None]:
    """Keep a failure with `file` as a sentence in the session, under `problem`."""
    st.session_state.pop(problem, None)
    try:
        yield
    except BusyError:
        st.session_state[problem] = say("frame", "file-busy", file=file)
    except Exception as error:
        if not isinstance(error, PlaygroundError):
            logger.exception("A visitor's file could not be read")
        reason = escape_markdown(explain(error))
        st.session_state[problem] = say("frame", "file-fails", file=upper_first(file), reason=reason)
