"""The Streamlit renderer of views: items, charts with the pinned side, the focus and its frame."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.charts import chart
from playground.charts.chart import Button, Item, Menu, Options, Paragraph, Table
from playground.charts.draw import Drawing, Drawn, draw_chart, draw_table
from playground.charts.names import shortened
from playground.charts.scene import Scene
from playground.link.opening import Focus, LinkedView
from playground.link.params import FOCUS, PARAMS, SHARED
from playground.pages import page_at
from playground.runs.encoder_run import Run
from playground.text.wording import write_weight
from playground.web import components
from playground.web.choices import widgets
from playground.web.choices.setup import (
    current_focus,
    current_setup,
    current_value,
    current_values,
    last_places,
    moved_places,
    pinned_setup,
)
from playground.web.choices.shortcuts import choose, choose_places, move_focus
from playground.web.components import FOCUS_KEY, CellFrame, draw_focus_line, request_scroll
from playground.web.shared import panels, saving
from playground.web.shared.navigation import page_named
from playground.words import say

S = TypeVar("S")

Side = tuple[str, Mapping[int, int]]
"""The place that rows or columns stand for, and what the axis calls a cell → its number."""

_HEADER, _MOST_LINES = 38, 40
"""Pixels of a table's header with the border, and lines of a text to copy before it is scrolled."""

PLACES = ("layer", "head", "query", "key")
"""Of the focus, in the line's order."""


@dataclass(frozen=True)
class Live:
    """What a page has beside its view."""

    widgets: Mapping[str, Callable[..., None]] = field(default_factory=dict)
    """What draws a `Widget`, by its name."""
    on_change: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    """What follows a choice, by the parameter's key."""


_NO_SUBJECT, _NOTHING_LIVE = Scene(None), Live()


def read_options(page: str) -> Options:
    """Return the values of a page's own parameters, by the word that they begin with."""
    return current_values([key for key in PARAMS if key.startswith(f"{page}_")])


def session_view(page: str) -> LinkedView:
    """Return the session's state and the pinned one, as a page (its path) shows them."""
    lab, other = current_setup(), pinned_setup()
    options = read_options(page_at(page).parameter_prefix.rstrip("_"))
    values = {**lab.values, **options, **current_values(FOCUS)}
    has_pinned = other is not None and other.text.sentences
    pinned = LinkedView(page, other, {**values, **other.values}) if other is not None and has_pinned else None
    return LinkedView(page, lab, values, pinned=pinned)


def draw_page(
    page: str,
    question: str,
    show: Callable[[Scene[S], Options], Iterable[Item]],
    scene: Callable[[LinkedView], Scene[S]],
    *sources: panels.Source,
    shown: Sequence[str] = PLACES,
    live: Live = _NOTHING_LIVE,
    changed: bool = True,
    pins: bool = True,
) -> None:
    """Draw a page of a run: heading, pin line, the run with the visitor's changes or without, view, `sources`."""
    panels.draw_heading(question)
    if pins:
        panels.draw_pin_line()
    panels.draw_run_line(changed=changed)
    panels.fragment(draw_view)(page, show, scene, shown, live)
    panels.code_behind(page, *sources)


def draw_view(
    page: str,
    show: Callable[[Scene[S], Options], Iterable[Item]],
    scene: Callable[[LinkedView], Scene[S]],
    shown: Sequence[str] = PLACES,
    live: Live = _NOTHING_LIVE,
) -> None:
    """Draw a page's view (by its path) below the places of the focus, `shown`; explain its errors."""
    view = session_view(page)
    with panels.explain_errors():
        made = scene(view)
        if shown:
            draw_focus(view.run, shown)
        render(show(made, view.values), made, live)


def draw_focus(run: Run, shown: Sequence[str] = PLACES) -> Focus:
    """Draw the focus line below a place for the answer; return the focus in this run."""
    panels.keep_places_above_focus()
    focus, last = current_focus(run), asdict(last_places(run))
    moved = ", ".join(f"the last {place} is {last[place]}" for place in moved_places(run))
    weight = run.pattern(focus.layer)[focus.head, focus.query, focus.key]
    masked = "" if run.allowed_in(focus.layer)[focus.query, focus.key] else " (masked)"
    amount = f"weight {write_weight(weight)}{masked}" if np.isfinite(weight) else "no finite weight"
    draw_focus_line(
        _take_move,
        places=asdict(focus),
        counts={place: number + 1 for place, number in last.items()},
        tokens=[shortened(token) for token in run.tokens],
        weight=amount if set(shown) == set(PLACES) else "",
        note=say("frame", "moved", moved=moved) if moved else "",
        shown=list(shown),
    )
    return focus


def _take_move() -> None:
    moved = st.session_state[FOCUS_KEY].moved
    if isinstance(moved, dict):
        move_focus(**{str(place): number for place, number in moved.items()})


def render(items: Iterable[Item], scene: Scene[Any] = _NO_SUBJECT, live: Live = _NOTHING_LIVE) -> None:
    """Draw what a view yields; words and controls need no scene."""
    page = _Renderer(scene, live)
    page.draw_all(items)
    for place, late in page.later:
        with place:
            page.draw_all(late)


class _Renderer:
    def __init__(self, scene: Scene[Any], live: Live) -> None:
        self.scene, self.live = scene, live
        self.later: list[tuple[DeltaGenerator, tuple[Item, ...]]] = []

    def draw_all(self, items: Iterable[Item]) -> None:
        """Draw each item; the answer's proof stands with it above the focus line."""
        follows_answer = False
        for item in items:
            is_answer = isinstance(item, Paragraph) and item.kind == "answer"
            proof = panels.take_proof_place() if follows_answer else None
            proves = isinstance(item, chart.Chart) or (isinstance(item, chart.Group) and item.is_proof)
            place = panels.take_answer_place() if is_answer else proof if proves else None
            with nullcontext() if place is None else place:
                for drawing in self._draw_item(item):
                    if drawing.beside:
                        self._draw_in_columns(drawing.beside)
                    if drawing.note:
                        st.caption(drawing.note)
            follows_answer = is_answer

    def _draw_item(self, item: Item) -> list[Drawing]:
        """Draw an item; return charts whose pinned side is drawn below."""
        drawings: list[Drawing] = []
        match item:
            case chart.Chart():
                drawing = draw_chart(item, self.scene)
                if drawing.in_one_row:
                    self._draw_in_columns((drawing.now, *drawing.beside))
                    return [replace(drawing, beside=())]
                self._draw_chart(drawing.now)
                drawings.append(drawing)
            case Table():
                _draw_table(item, self.scene)
            case Paragraph(text, "answer"):
                with st.container(key="answer"):
                    st.markdown(text)
            case Paragraph(text, "code"):
                height: int | Literal["content"] = "content" if text.count("\n") < _MOST_LINES else 160
                st.code(text, language=None, height=height, wrap_lines=True)
            case Paragraph(text, "formula"):
                st.latex(text)
            case Paragraph(text, kind, icon):
                draw = getattr(st, "markdown" if kind == "text" else kind)
                draw(text, **({"icon": icon} if icon else {}))
            case chart.Control(key, label, help_text, high):
                limits: dict[str, Any] = {} if high is None else {"high": high}
                if follows := self.live.on_change.get(key):
                    limits["on_change"] = follows
                widgets.draw(key, label, help_text=help_text or None, **limits)
            case Menu():
                _draw_menu(item)
            case Button():
                _draw_button(item)
            case chart.Columns(columns, shares, gap):
                for column, items in zip(st.columns(shares or len(columns), gap=gap), columns, strict=True):
                    with column:
                        for each in items:
                            drawings += self._draw_item(each)
            case chart.Group(items=items, is_late=True):
                self.later.append((st.container(), items))
            case chart.Group(key, items, is_row, is_card, gap):
                side = "center" if any(isinstance(item, chart.Paragraph) for item in items) else "bottom"
                row: dict[str, Any] = {"horizontal": True, "vertical_alignment": side} if is_row else {}
                card: dict[str, Any] = {"border": True, "height": "stretch"} if is_card else {}
                with st.container(key=key or None, gap=gap or ("xsmall" if is_card else "small"), **row, **card):
                    self.draw_all(items)
            case chart.Panel("", title, items, icon):
                with st.expander(title, icon=icon or None):
                    self.draw_all(items)
            case chart.Panel(key, title, items, icon):
                panel = widgets.panel(key, title, icon or None)
                if panel.open:  # a browser draws what is hidden too
                    with panel:
                        self.draw_all(items)
            case chart.Widget(name, data, caption):
                self.live.widgets[name](**data)
                if caption:
                    st.caption(caption)
        return drawings

    def _draw_in_columns(self, several: Sequence[Drawn]) -> None:
        for column, drawn in zip(st.columns(len(several), gap="medium"), several, strict=True):
            with column:
                self._draw_chart(drawn)

    def _draw_chart(self, drawn: Drawn) -> None:
        if saving.is_left_out(drawn.key):
            return
        frame = _frame(drawn, self.scene.focus)
        with st.container(key=drawn.key):
            match drawn.chart:
                case chart.HeadLines() as drawn_lines:
                    lines = drawn_lines.lines(drawn.subject)
                    components.draw_head_lines(drawn.key, lines, alt=drawn.alt, on_click=partial(_take_line, drawn.key))
                case chart.LabelledBars() as bars:
                    components.draw_bars(drawn.key, bars)
                case _:
                    components.draw_plot(drawn.key, drawn.figure, alt=drawn.alt)
            if frame is not None:
                frame.draw()
            saving.draw_save_menu(drawn, partial(self._draw_in_menu, drawn))  # the style puts it at the caption's end
            st.caption(drawn.caption)
            saving.draw_way_out(drawn.key)

    def _draw_in_menu(self, drawn: Drawn) -> None:
        if drawn.key == drawn.chart.key and drawn.chart.controls:  # not beside it again, for what is pinned
            self.draw_all([chart.Group("", drawn.chart.controls, is_row=True)])
        _draw_numbers(drawn)


def _draw_menu(menu: Menu) -> None:
    shown = current_value(menu.key)
    missing = [] if shown in menu.names or shown == "" else [shown]
    more = {"format_func": lambda value: menu.names.get(value, str(value)), "help": menu.help or None}
    widgets.unbound_menu(menu.key, f"{menu.key}_menu", menu.label, [*menu.names, *missing], shown, **more)


def _draw_button(button: Button) -> None:
    looks: dict[str, Any] = {"icon": button.icon or None, "help": button.help or None, "disabled": button.is_disabled}
    looks["width"] = "stretch" if button.is_wide else "content"
    is_pressed = st.button(button.label, key=button.key, on_click=_press, args=(button,), **looks)
    if is_pressed and button.opens:
        st.switch_page(page_named(button.opens), query_params={})
    if is_pressed and button.chooses.keys() & {*SHARED, "do"}:  # the whole page follows
        st.rerun()


def _press(button: Button) -> None:
    choose(button.chooses)
    if button.scrolls:
        request_scroll(button.scrolls, unless_seen=button.scrolls != "answer")


def _take_line(key: str) -> None:
    move_focus(**components.clicked_tokens(key))


def _frame(drawn: Drawn, focus: Focus) -> CellFrame | None:
    if (ranges := drawn.cells) is None:
        return None
    places, sides = asdict(focus) | dict(drawn.chart.chosen), (ranges.rows, ranges.columns)
    row, column = (_find_cell(places, side) for side in sides)
    height, width = (range(min(side[1]), max(side[1]) + 1) if side and side[1] else None for side in sides)
    framed = ", ".join(f"{side[0].split('_')[-1]} {places[side[0]]}" for side in sides if side)
    label, on_click = f"{drawn.chart.click} Now: {framed}.", partial(take_click, drawn.key, sides)
    selected = None if row is None or column is None else (row, column)
    options = (ranges.is_mosaic, ranges.opens, drawn.least_width)
    return CellFrame(drawn.key, selected, height, width, on_click, label, *options)


def _find_cell(places: Mapping[str, int], side: Side | None) -> int | None:
    if side is None:
        return 0
    place, numbers = side
    return next((at for at, known in numbers.items() if known == places[place]), None)


def take_click(container: str, sides: Sequence[Side | None]) -> None:
    """Choose what the clicked row and column stand for; for callbacks."""
    for side, at in zip(sides, components.clicked_cell(container), strict=True):
        if side is not None and at is not None and at in side[1]:
            choose_places(**{side[0]: side[1][at]})


def _draw_table(table: Table[S], scene: Scene[S]) -> None:
    frame = draw_table(table, scene)
    if table.is_markdown:
        with st.container(key=table.key):
            st.table(frame)
        return
    formats: dict[str, Any] = {name: st.column_config.TextColumn(width=pixels) for name, pixels in table.widths.items()}
    for name in map(str, frame.select_dtypes("number")):
        form = table.formats.get(name.removesuffix(", pinned").removesuffix(", now − pinned"), "%.4g")
        options: dict[str, Any] = {"format": form, "width": table.widths.get(name)}
        bar = partial(st.column_config.ProgressColumn, max_value=table.fills[name]) if name in table.fills else None
        formats[name] = (bar or st.column_config.NumberColumn)(**options)
    height: int | Literal["content"] = "content"
    if table.most_rows and table.row_height:
        height = _HEADER + table.row_height * min(len(frame), table.most_rows)
    looks: dict[str, Any] = {"height": height, "row_height": table.row_height, "placeholder": table.missing}
    hidden = not table.shows_index
    _show_table(table.key, frame, table.on_row, hide_index=hidden, column_config=formats, **looks)
    saving.draw_table_button(table.key, frame)


def _draw_numbers(drawn: Drawn) -> None:
    if drawn.table is not None:
        made = drawn.table()
        looks: Any = {"_index": {"width": 24 + 7 * max(map(len, map(str, [made.index.name, *made.index])))}}  # its text
        _show_table(f"{drawn.key}_table", made, drawn.chart.on_row, column_config=looks)


def _show_table(
    key: str, table: pd.DataFrame, on_row: Callable[[Any], Mapping[str, Any]] | None, **options: Any
) -> None:
    index = table.index

    def take() -> None:
        cells = st.session_state[key]["selection"]["cells"]  # none after a second click on the same cell
        if cells and on_row is not None:
            choose_places(**on_row(index[int(cells[0][0])]))

    clicks: dict[str, Any] = {} if on_row is None else {"on_select": take, "selection_mode": "single-cell"}
    st.dataframe(table, key=key, **clicks, **options)
