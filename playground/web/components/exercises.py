"""What the page Exercises has in the browser: the map, blank places, a curve to draw, and what a visitor has found."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from playground.charts import palette
from playground.web.components import load_component

_map = load_component("exercise_map", draws=True)
_grid = load_component("answer_grid", draws=True)
_curve = load_component("answer_curve", draws=True)
_progress = load_component("exercise_progress")


def draw_exercise_map(
    key: str, exercises: Sequence[dict[str, Any]], following: str | None, on_open: Callable[[str], None]
) -> None:
    """Draw exercises as boxes, a column a level, with lines between those that rest on each other.

    Args:
        key: of the component.
        exercises: in order, each with `key`, `title`, `topic`, `level`, `restsOn` (keys) and `status`.
        following: the key of the one to go on with.
        on_open: takes the key of one that is pressed.
    """
    data = {"exercises": list(exercises), "next": following, "colours": [palette.FOCUS, palette.CHANGE]}
    _map(key=key, data=data, on_opened_change=lambda: _take(key, "opened", on_open))


def draw_answer_grid(
    key: str,
    rows: Sequence[str],
    columns: Sequence[str],
    titles: tuple[str, str],
    place: Sequence[int] | None,
    on_choose: Callable[[list[int]], None],
) -> None:
    """Draw blank places, one of which can be chosen: cells of rows and columns, or without columns a row of names."""
    data = {
        "rows": list(rows),
        "columns": list(columns),
        "titles": list(titles),
        "place": None if place is None else list(place),
        "colour": palette.FOCUS,
    }
    _grid(key=key, data=data, on_chosen_change=lambda: _take(key, "chosen", on_choose))


def draw_answer_curve(
    key: str,
    names: Sequence[str],
    places: Sequence[int],
    ends: tuple[float, float],
    titles: tuple[str, str],
    heights: Sequence[float],
    on_draw: Callable[[list[float]], None],
) -> None:
    """Draw a curve with a slider for each handle.

    Args:
        key: of the component.
        names: of the handles.
        places: of the handles along the axis, from 0.
        ends: of the numbers' axis.
        titles: of both axes.
        heights: of the handles.
        on_draw: takes the heights after each change.
    """
    data = {
        "names": list(names),
        "places": list(places),
        "low": ends[0],
        "high": ends[1],
        "titles": list(titles),
        "heights": list(heights),
        "colour": palette.FOCUS,
    }
    _curve(key=key, data=data, on_drawn_change=lambda: _take(key, "drawn", on_draw))


def draw_progress(
    key: str,
    progress: str,
    session: str,
    *,
    is_read: bool,
    replaces: bool,
    on_read: Callable[[str], None],
) -> None:
    """Have the browser keep what a visitor has found, as a text, and say what it had kept before.

    Args:
        key: of the component.
        progress: what is to be kept, beside what the browser has.
        session: a name of this session, which is told once what the browser has.
        is_read: whether it was told: only then is anything kept.
        replaces: whether the text takes the place of what the browser had, which could not be read.
        on_read: takes what the browser had.
    """
    data = {"progress": progress, "session": session, "isRead": is_read, "replaces": replaces}
    _progress(key=key, data=data, on_stored_change=lambda: _take(key, "stored", on_read))


def _take(key: str, name: str, take: Callable[[Any], None]) -> None:
    """Hand over what the component has sent; the browser may send anything, and nothing."""
    sent = getattr(st.session_state[key], name, None)
    if sent is not None:
        take(sent)
