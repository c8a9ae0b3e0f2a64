"""Exercises as this server poses them: their states run with the app's models, in turns, and are cached."""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import streamlit as st

from playground.charts.chart import Chart, Columns, Group, Heatmap, Item, Panel, Paragraph, Table
from playground.charts.scene import Scene
from playground.learn.checks import ANSWER
from playground.learn.exercise import Variant
from playground.link.opening import LinkedView
from playground.link.query import needed_panels
from playground.views.all_views import VIEWS
from playground.web.session import caches
from playground.web.session.caches import shipped_exercises
from playground.web.session.services import services
from playground.web.shared.renderer import render

_LONG_PAGES = ("gradient-flow", "regularisers", "training")
"""Pages whose numbers come from backward passes or trainings: they take the long place."""


class ServedView(LinkedView):
    """A state that the app computes, within this server's limits; its scene is made once."""

    @cached_property
    def scene(self) -> Scene[Any]:
        """What the view of its page looks at; raises as the state's run."""
        return VIEWS[self.page].scene(self)


def serve_view(view: LinkedView) -> ServedView:
    """The same state, which the app computes."""
    parts = {each.name: getattr(view, each.name) for each in fields(view)}
    return ServedView(**parts | {"lab": replace(view.lab, source=caches.APP)})


@st.cache_resource(max_entries=8, show_spinner=False)
def pose_variant(key: str, number: int) -> Variant:
    """Return a variant of a shipped exercise; raises as `open_link`."""
    variant = Variant(shipped_exercises()[key], number, serve_view)
    _ = variant.view
    return variant


@contextmanager
def take_turn(page: str) -> Iterator[None]:
    """Hold a turn to compute with a state of a page, by its path; raises `BusyError`."""
    with ExitStack() as held:
        held.enter_context(st.spinner("This is computed for you, which may take a moment."))
        if page in _LONG_PAGES:
            held.enter_context(services().turns.hold_long_place())
        else:
            held.enter_context(services().turns.take())
        yield


def draw_state(view: LinkedView, keys: Collection[str]) -> None:
    """Draw the charts, tables and groups of a state that have these keys; raises as the state's run."""
    if keys and isinstance(view, ServedView) and view.page in VIEWS:
        options = {**view.values, **needed_panels(keys)}
        render(list(find_items(VIEWS[view.page].show(view.scene, options), keys)), view.scene)


def find_items(items: Iterable[Item], keys: Collection[str]) -> Iterator[Item]:
    """Yield the items of these keys, also those inside others; a click on them changes nothing."""
    for item in items:
        match item:
            case Paragraph(text, "answer") if ANSWER in keys:
                yield Paragraph(text)
            case Group() if item.key in keys:
                yield replace(item, items=tuple(map(_without_clicks, item.items)))
            case Group() | Panel():
                yield from find_items(item.items, keys)
            case Columns():
                yield from find_items([each for column in item.columns for each in column], keys)
            case Chart() | Table() if item.key in keys:
                yield _without_clicks(item)


def _without_clicks(item: Item) -> Item:
    """Return the item without places that a click chooses: they would move the visitor's own focus elsewhere."""
    if isinstance(item, Chart):
        read = item.reading
        item = replace(
            item,
            click="",
            on_row=None,
            caption=_drop_clicks(item.caption),
            reading=lambda subject: _drop_clicks(read(subject)),
        )
    match item:
        case Heatmap():
            return replace(item, rows=replace(item.rows, place=""), columns=replace(item.columns, place=""))
        case Table():
            return replace(item, on_row=None)
    return item


_CLICKS = re.compile(r"\b[Cc]lick|\b[Tt]humbnails|\b[Tt]he frame\b|\b[Aa]rrow keys\b")


def _drop_clicks(text: str) -> str:
    """Return a caption without its sentences on clicks and the frame."""
    return " ".join(sentence for sentence in re.split(r"(?<=[.?!])\s+", text) if not _CLICKS.search(sentence))
