"""Charts of an exercise's state, drawn by the view of its page as the page draws them."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from playground.charts.chart import (
    Axis,
    Chart,
    Columns,
    Group,
    Heatmap,
    Item,
    Later,
    Panel,
    Paragraph,
    Table,
)
from playground.learn.checks import ANSWER
from playground.link.query import needed_panels
from playground.views.all_views import VIEWS
from playground.web.shared.renderer import render
from playground.web.views.exercises.posed import ServedView


def draw_state(view: ServedView, keys: Collection[str]) -> None:
    """Draw those charts, tables and groups of a state that have these keys; raises as the state's run."""
    if keys and view.page in VIEWS:
        options = {**view.values, **needed_panels(keys)}
        render(list(find_items(VIEWS[view.page].show(view.scene, options), keys)), view.scene)


def find_items(items: Iterable[Item], keys: Collection[str]) -> Iterator[Item]:
    """The items of these keys, also those inside of others, with nothing in them that a click changes."""
    for item in items:
        match item:
            case Paragraph(text, "answer"):
                if ANSWER in keys:
                    yield Paragraph(text)
            case Group() if item.key in keys:
                yield replace(item, items=tuple(map(_fix, item.items)))
            case Group() | Panel() | Later():
                yield from find_items(item.items, keys)
            case Columns():
                yield from find_items([each for column in item.columns for each in column], keys)
            case Chart() | Table() if item.key in keys:
                yield _fix(item)


def _fix(item: Item) -> Item:
    """The item without places that a click chooses: they would move the visitor's own focus, which is elsewhere."""
    if isinstance(item, Chart):
        item = _without_focus(item)
    match item:
        case Heatmap():
            return replace(item, rows=_without_place(item.rows), columns=_without_place(item.columns))
        case Table():
            return replace(item, on_row=None)
    return item


C = TypeVar("C", bound=Chart[Any])


def _without_focus(chart: C) -> C:
    """The chart, which nobody can click; what its words say of clicks and of the frame is left out."""
    reading = chart.reading
    return replace(
        chart,
        click="",
        on_row=None,
        caption=_keep_true(chart.caption),
        reading=lambda subject: _keep_true(reading(subject)),
    )


def _keep_true(text: str) -> str:
    return " ".join(sentence for sentence in re.split(r"(?<=[.?!])\s+", text) if not _OF_FOCUS.search(sentence))


_OF_FOCUS = re.compile(r"\b[Cc]lick|\b[Tt]humbnails|\b[Tt]he frame\b|\b[Aa]rrow keys\b")
"""Sentences of a caption on what an exercise's chart has not."""


def _without_place(axis: Axis[Any]) -> Axis[Any]:
    return replace(axis, place="")
