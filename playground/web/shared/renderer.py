"""The Streamlit renderer of views: charts with caption, alt, numbers, menu, focus frame and the pinned side."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io
import streamlit as st
from plotly.basedatatypes import BaseFigure
from streamlit.delta_generator import DeltaGenerator

from playground.charts.bars import LabelledRows
from playground.charts.chart import (
    Button,
    CellRanges,
    Chart,
    Code,
    Columns,
    Control,
    Formula,
    Group,
    Item,
    Later,
    Menu,
    Metrics,
    Options,
    Panel,
    Paragraph,
    Table,
    Widget,
)
from playground.charts.draw import Drawing, Drawn, SavedHeads, draw_chart, draw_table
from playground.charts.figure import Figure
from playground.charts.head_lines import Lines
from playground.charts.label import chart_label
from playground.charts.scene import Scene
from playground.export.tables import rows_of
from playground.link.opening import Focus, LinkedView
from playground.link.params import FOCUS, PARAMS, SHARED
from playground.pages import page_at
from playground.web.choices import widgets
from playground.web.choices.focus import choose, choose_places, move_focus
from playground.web.choices.setup import current_setup, current_value, pinned_setup
from playground.web.components.drawings import (
    CellFrame,
    clicked_tokens,
    draw_bars,
    draw_curves,
    draw_head_lines,
    draw_token_chips,
)
from playground.web.shared import panels, saving
from playground.web.shared.focus_line import PLACES, Cells, draw_focus, frame_cell, take_answer_place, take_proof_place
from playground.web.shared.navigation import page_named
from playground.web.shared.saving import Saved, draw_save_menu, saved_heads

S = TypeVar("S")

ON_CHANGE: dict[str, Callable[[], None]] = {}
"""What runs when the widget of a parameter is used, by the parameter's key; pages add theirs."""

_NO_SUBJECT = Scene(None)

_HEADER = 38
"""Pixels of a table's header with the border."""

_CODE_HEIGHT = 160
"""Pixels of a text to copy; the rest of it is scrolled to."""

WIDGETS: dict[str, Callable[..., None]] = {"token_chips": draw_token_chips}
"""What draws a `Widget`, by its name; pages add theirs."""


@dataclass(frozen=True)
class Live:
    """What a page has of its own beside its view."""

    widgets: Mapping[str, Callable[..., None]] = field(default_factory=dict)
    """What draws a `Widget`, by its name."""
    on_change: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    """What follows a choice, by the parameter's key."""


_NOTHING_LIVE = Live()


class PlainFigure(BaseFigure):  # type: ignore[misc]
    """A figure that Plotly has not validated: that would take most of the time that a click has.

    Tests validate what charts draw. `st.plotly_chart` takes any of Plotly's figures as it is.
    """

    def __init__(self, figure: Figure) -> None:
        self._figure = figure

    def to_dict(self) -> Figure:
        """The figure, with the theme's template."""
        template = plotly.io.templates[plotly.io.templates.default]
        data = [{name: _pack(value) for name, value in trace.items()} for trace in self._figure["data"]]
        return {"data": data, "layout": {**self._figure["layout"], "template": template}}


def _pack(value: Any) -> Any:
    """A table of numbers as its bytes, which are a fraction of its JSON; Plotly reads both."""
    if not isinstance(value, np.ndarray) or value.ndim != 2 or value.dtype.str[1:] not in ("f4", "f8", "u1"):
        return value
    if not value.size:
        return value
    text = b64encode(value.tobytes()).decode()
    return {"dtype": value.dtype.str[1:], "bdata": text, "shape": ", ".join(map(str, value.shape))}


def read_options(page: str) -> Options:
    """Values of a page's own parameters: those whose keys begin with this word."""
    return {key: current_value(key) for key in PARAMS if key.startswith(f"{page}_")}


def session_view(page: str) -> LinkedView:
    """What a page, by its path, shows of the session's choices; the visitor's query and key are those of its text."""
    lab, other = current_setup(), pinned_setup()
    options = read_options(page_at(page).parameter_prefix.rstrip("_"))
    values = {**lab.values, **options, **{place: current_value(place) for place in FOCUS}}
    has_pinned = other is not None and other.text.sentences
    pinned = LinkedView(page, other, {**values, **other.values}) if other is not None and has_pinned else None
    return LinkedView(page, lab, values, pinned=pinned)


def draw_view(
    page: str,
    show: Callable[[Scene[S], Options], Iterable[Item]],
    scene: Callable[[LinkedView], Scene[S]],
    shown: Sequence[str] = PLACES,
    live: Live = _NOTHING_LIVE,
) -> None:
    """Draw the focus line and what a page's view shows; an expected error ends the page with its one sentence.

    Args:
        page: its path.
        show: the view.
        scene: what it looks at.
        shown: the places of the focus that the page depends on; without any, there is no focus line.
        live: the page's own widgets, and what follows its choices.
    """
    view = session_view(page)
    with panels.explain_errors():
        made = scene(view)
        if shown:
            draw_focus(view.run, shown)
        render(show(made, view.values), made, live)


def render(items: Iterable[Item], scene: Scene[Any] = _NO_SUBJECT, live: Live = _NOTHING_LIVE) -> None:
    """Draw what a view yields; words and controls alone need no scene."""
    page = _Page(scene, live, [])
    _render_all(items, page)
    for place, item in page.later:
        with place:
            _render_all(item.items, page)


@dataclass(frozen=True)
class _Page:
    """What all of a page's items are drawn with."""

    scene: Scene[Any]
    live: Live
    later: list[tuple[DeltaGenerator, Later]]


def _render_all(items: Iterable[Item], page: _Page) -> None:
    """Draw each item; what proves the page's answer, and follows it, stands with it above the focus line."""
    follows_answer = False
    for item in items:
        is_answer = isinstance(item, Paragraph) and item.kind == "answer"
        proof = take_proof_place() if follows_answer else None
        proves = isinstance(item, Chart) or (isinstance(item, Group) and item.is_proof)
        place = take_answer_place() if is_answer else proof if proves else None
        with nullcontext() if place is None else place:
            for drawing in _render_item(item, page):
                _draw_beside(drawing, page.scene.focus)
        follows_answer = is_answer


def _render_item(item: Item, page: _Page) -> list[Drawing]:
    """Draw an item; returns the charts whose pinned side is still to be drawn: below them, as wide as the page."""
    scene = page.scene
    drawings: list[Drawing] = []
    match item:
        case Chart():
            drawing = draw_chart(item, scene)
            if drawing.in_one_row:
                _draw_in_columns((drawing.now, *drawing.beside), scene.focus)
                if drawing.note:
                    st.caption(drawing.note)
            else:
                _draw(drawing.now, scene.focus)
                drawings.append(drawing)
        case Table():
            _render_table(item, scene)
        case Paragraph(text, "answer"):
            with st.container(key="answer"):
                st.markdown(text)
        case Paragraph(text, kind, icon):
            options: dict[str, Any] = {"icon": icon} if icon else {}
            _PARAGRAPHS[kind](text, **options)
        case Formula(latex):
            st.latex(latex)
        case Code(text, wraps):
            st.code(text, language=None, height="content" if wraps else _CODE_HEIGHT, wrap_lines=wraps)
        case Control(key, label, help_text, high):
            limits: dict[str, Any] = {} if high is None else {"high": high}
            if follows := page.live.on_change.get(key, ON_CHANGE.get(key)):
                limits["on_change"] = follows
            widgets.draw(key, label, help_text=help_text or None, **limits)
        case Menu(key, label, names, help_text, takes_text):
            _render_menu(key, label, names, help_text, takes_text=takes_text)
        case Button():
            _render_button(item)
        case Columns(columns, shares, gap):
            for column, items in zip(st.columns(shares or len(columns), gap=gap), columns, strict=True):
                with column:
                    for each in items:
                        drawings += _render_item(each, page)
        case Group(key, items, is_row, is_card, gap, _):
            place = st.container(
                key=key or None,
                horizontal=is_row,
                vertical_alignment="bottom" if is_row else "top",
                border=is_card,
                height="stretch" if is_card else "content",
                gap=gap or ("xsmall" if is_card else "small"),
            )
            with place:
                _render_all(items, page)
        case Panel(key, title, items, icon):
            bound: dict[str, Any] = {"key": key, "bind": "query-params"} if key else {}
            with st.expander(title, icon=icon or None, **bound):
                _render_all(items, page)
        case Later():
            page.later.append((st.container(), item))
        case Metrics(metrics):
            with st.container(horizontal=True, gap="small"):
                for metric in metrics:
                    change = metric.change.replace("−", "-") or None  # Streamlit's arrow points down at a hyphen
                    st.metric(metric.label, metric.value, change, "off", help=metric.help or None, width="content")
        case Widget(name, data, caption):
            (page.live.widgets.get(name) or WIDGETS[name])(**data)
            if caption:
                st.caption(caption)
    return drawings


_PARAGRAPHS: Mapping[str, Callable[..., object]] = {
    "text": st.markdown,
    "caption": st.caption,
    "info": st.info,
    "error": st.error,
    "header": st.header,
}


_MODE_BAR = {"displayModeBar": True, "modeBarButtons": [["toImage"]], "displaylogo": False, "displayNotifier": False}
"""Hidden by the page's style: the menu of the chart presses its one button."""


def _draw_beside(drawing: Drawing, focus: Focus) -> None:
    """What a chart has of the pinned subject, side by side."""
    if drawing.beside:
        _draw_in_columns(drawing.beside, focus)
    if drawing.note:
        st.caption(drawing.note)


def _draw_in_columns(several: Sequence[Drawn], focus: Focus) -> None:
    for column, drawn in zip(st.columns(len(several), gap="medium"), several, strict=True):
        with column:
            _draw(drawn, focus)


def _draw(drawn: Drawn, focus: Focus) -> None:
    if saving.is_left_out(drawn.key):
        return
    frame = None if drawn.cells is None else _frame(drawn, drawn.cells, focus)
    with st.container(key=drawn.key):
        match drawn.live:
            case Lines() as lines:
                draw_head_lines(drawn.key, lines, alt=drawn.alt, on_click=partial(_take_line, drawn.key))
            case LabelledRows() as bars:
                draw_bars(drawn.key, bars, alt=drawn.alt)
            case _ if drawn.grows:
                draw_curves(drawn.key, drawn.figure, alt=drawn.alt)
            case _:
                label = chart_label(drawn.alt, drawn.figure)
                st.plotly_chart(PlainFigure(drawn.figure), key=f"{drawn.key}_chart", alt=label, config=_MODE_BAR)
        st.caption(drawn.caption)
        draw_save_menu(drawn.key, lambda: go.Figure(drawn.figure), title=drawn.alt, saved=_saved(drawn))
        saving.draw_way_out(drawn.key)
        if frame is not None:
            frame.draw()
    if drawn.table is not None:
        panels.draw_numbers(drawn.key, drawn.table, drawn.table_title, on_row=_row_chooser(drawn.on_row, drawn.table))


def _render_menu(key: str, label: str, names: Mapping[Any, str], help_text: str, *, takes_text: bool) -> None:
    shown = current_value(key)
    missing = [] if shown in names or shown == "" else [shown]
    more: dict[str, Any] = {"accept_new_options": True, "index": None} if takes_text else {}
    widgets.unbound_menu(
        key,
        f"{key}_menu",
        label,
        [*names, *missing],
        None if takes_text and shown == "" else shown,
        format_func=lambda value: names.get(value, str(value)),
        help=help_text or None,
        **more,
    )


def _render_button(button: Button) -> None:
    """Draw a button; the whole page follows a press that changes more than the page's own choices."""
    is_pressed = st.button(
        button.label,
        key=button.key,
        icon=button.icon or None,
        help=button.help or None,
        disabled=button.is_disabled,
        on_click=choose,
        args=(button.chooses,),
    )
    if is_pressed and button.opens:
        st.switch_page(page_named(button.opens), query_params={})
    if is_pressed and button.chooses.keys() & {*SHARED, "do"}:
        st.rerun()


def _take_line(key: str) -> None:
    move_focus(**clicked_tokens(key))


def _row_chooser(
    on_row: Callable[[Any], Mapping[str, Any]] | None, table: Callable[[], pd.DataFrame]
) -> Callable[[int], None] | None:
    """What takes the number of a row that was clicked."""
    return None if on_row is None else lambda row: choose_places(**on_row(table().index[row]))


def _saved(drawn: Drawn) -> Saved:
    """What the menu of a chart saves."""
    if isinstance(drawn.live, SavedHeads):
        heads = drawn.live
        return saved_heads(drawn.saved_as, heads.weights, heads.queries, heads.keys, heads.n_heads)
    table = drawn.saved_table
    rows = None if table is None else lambda: rows_of(table())
    return Saved(drawn.saved_as, rows, has_picture=drawn.live is None and not drawn.grows)


def _frame(drawn: Drawn, ranges: CellRanges, focus: Focus) -> CellFrame:
    rows, columns = (None if side is None else Cells(*side) for side in (ranges.rows, ranges.columns))
    frame = frame_cell(drawn.key, focus, rows=rows, columns=columns, label=drawn.chart.click, chosen=drawn.chosen)
    return replace(frame, is_mosaic=ranges.is_mosaic, opens=ranges.opens, least_width=drawn.least_width)


def _render_table(table: Table[S], scene: Scene[S]) -> None:
    chooser = _row_chooser(table.on_row, lambda: draw_table(table, scene))
    if table.is_folded:
        panels.draw_numbers(table.key, lambda: draw_table(table, scene), table.title, on_row=chooser)
        return
    frame = draw_table(table, scene)
    if table.is_markdown:
        with st.container(key=table.key):
            st.table(frame)
        return
    formats: dict[str, Any] = {name: st.column_config.TextColumn(width=pixels) for name, pixels in table.widths.items()}
    for name in map(str, frame.select_dtypes("number")):
        column = name.removesuffix(", pinned").removesuffix(", now − pinned")
        form = table.formats.get(column, "%.4g")
        formats[name] = (
            st.column_config.ProgressColumn(format=form, max_value=table.fills[name], width=table.widths.get(name))
            if name in table.fills
            else st.column_config.NumberColumn(format=form, width=table.widths.get(name))
        )
    height: int | Literal["content"] = "content"
    if table.most_rows and table.row_height:
        height = _HEADER + table.row_height * min(len(frame), table.most_rows)
    panels.show_table(
        table.key,
        frame,
        height=height,
        row_height=table.row_height,
        hide_index=not table.shows_index,
        placeholder=table.missing,
        column_config=formats,
        on_row=chooser,
    )
