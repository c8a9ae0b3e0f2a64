"""The focus on a page: the line that names and moves it, and frames in charts that a click moves."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import partial
from typing import Self

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.charts.names import shortened
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.text.wording import write_weight
from playground.web.choices.focus import choose_places, current_focus, last_places, move_focus, moved_places
from playground.web.components.drawings import FOCUS_KEY, CellFrame, clicked_cell, draw_focus_line


@dataclass(frozen=True)
class Cells:
    """What a chart's rows or its columns stand for."""

    place: str
    """`layer`, `head`, `query` or `key`, or a parameter of the page's own."""
    numbers: Mapping[int, int]
    """What the axis calls a cell → its number in the run."""

    @classmethod
    def of(cls, place: str, numbers: Sequence[int]) -> Self:
        """Cells that the axis counts from 0."""
        return cls(place, dict(enumerate(numbers)))


_ANSWER_PLACE: ContextVar[DeltaGenerator | None] = ContextVar("answer_place", default=None)
_PROOF_PLACE: ContextVar[DeltaGenerator | None] = ContextVar("proof_place", default=None)


PLACES = ("layer", "head", "query", "key")
"""Of the focus, in the line's order."""


def draw_focus(run: Run, shown: Sequence[str] = PLACES) -> Focus:
    """Draw the focus line, in the fragment whose charts the focus moves; returns the focus as the run has it.

    `shown` are the places that what is drawn depends on.

    Above the line there is a place for the page's answer, which depends on the focus, if there is none higher up, and
    for what proves it.
    """
    if _ANSWER_PLACE.get() is None:
        keep_answer_place()
        _PROOF_PLACE.set(_ANSWER_PLACE.get())
    else:
        _PROOF_PLACE.set(st.container())
    focus, last = current_focus(run), asdict(last_places(run))
    weight = run.pattern(focus.layer)[focus.head, focus.query, focus.key]
    moved = [f"the last {place} is {last[place]}" for place in moved_places(run)]
    note = f"Not all that was chosen is here: {', '.join(moved)}." if moved else ""
    masked = "" if run.allowed_in(focus.layer)[focus.query, focus.key] else " (masked)"
    amount = f"weight {write_weight(weight)}{masked}" if np.isfinite(weight) else "no finite weight"
    if set(shown) != set(PLACES):
        amount = ""
    draw_focus_line(
        _take_move,
        places=asdict(focus),
        counts={place: number + 1 for place, number in last.items()},
        tokens=[shortened(token) for token in run.tokens],
        weight=amount,
        note=note,
        shown=list(shown),
    )
    return focus


def keep_answer_place() -> None:
    """Have the page's answer stand here, whatever is drawn before it is known."""
    _ANSWER_PLACE.set(st.container())


def forget_answer_place() -> None:
    """Begin a page, or a fragment of one: the place of another, which came to no answer, is gone."""
    _ANSWER_PLACE.set(None)
    _PROOF_PLACE.set(None)


def take_answer_place() -> DeltaGenerator:
    """Where the page's answer goes: above the focus line if there is one, and else where the page is drawn by now."""
    place = _ANSWER_PLACE.get() or st.container()
    _ANSWER_PLACE.set(None)
    return place


def take_proof_place() -> DeltaGenerator | None:
    """Where a chart goes that follows the answer: between it and the focus line, where there is one, else None."""
    place = _PROOF_PLACE.get()
    _PROOF_PLACE.set(None)
    return place


def frame_cell(
    container: str,
    focus: Focus,
    *,
    label: str,
    rows: Cells | None = None,
    columns: Cells | None = None,
    chosen: Mapping[str, int] | None = None,
) -> CellFrame:
    """What frames the focus in a heatmap or among bars, and moves it by a click; for the chart's `overlay`.

    Args:
        container: the chart's key.
        focus: the cell to frame; none is framed where the chart leaves it out.
        label: what the arrow keys move.
        rows: what the rows stand for; None where a cell is as high as the chart.
        columns: what the columns stand for; None where a cell is as wide as the chart.
        chosen: what stands for the focus at the page's own parameters.
    """
    places = asdict(focus) | dict(chosen or {})
    row, column = (_find_cell(places, cells) for cells in (rows, columns))
    selected = None if row is None or column is None else (row, column)
    height, width = (
        range(min(cells.numbers), max(cells.numbers) + 1) if cells and cells.numbers else None
        for cells in (rows, columns)
    )
    framed = ", ".join(f"{cells.place.split('_')[-1]} {places[cells.place]}" for cells in (rows, columns) if cells)
    on_click = partial(_take_click, container, (rows, columns))
    return CellFrame(container, selected, height, width, on_click, f"{label} Now: {framed}.")


def _find_cell(places: Mapping[str, int], cells: Cells | None) -> int | None:
    """What the chart's axis calls the focus; None where it leaves it out."""
    if cells is None:
        return 0
    return next((at for at, known in cells.numbers.items() if known == places[cells.place]), None)


def _take_click(container: str, sides: tuple[Cells | None, Cells | None]) -> None:
    for cells, at in zip(sides, clicked_cell(container), strict=True):
        if cells is not None and at is not None and at in cells.numbers:
            choose_places(**{cells.place: cells.numbers[at]})


def _take_move() -> None:
    moved = st.session_state[FOCUS_KEY].moved
    if isinstance(moved, dict):
        move_focus(**{str(place): number for place, number in moved.items()})
