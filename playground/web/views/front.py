"""The front page's cards: an experiment each, with a small picture of a true result and the button that begins it."""

from base64 import b64encode
from html import escape
from io import BytesIO

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from PIL import Image

from playground.charts.weights import SQUARE_ROOT, shrink
from playground.errors import PlaygroundError
from playground.learn.tour import Evidence, SmallMap, SmallNumbers, Tour
from playground.learn.tours import TOURS
from playground.text.wording import count_noun
from playground.web.shared import tour_line
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment
from playground.web.views.tour_evidence import gather_evidence

_STARTED = "_tour_started"
"""Session key, in the run after a press on a card: the name of its tour."""

_APART = 35
"""Percent of the map's width from which on two names of columns have room side by side, however they lie."""

_UNLIT = np.float32(0.4)
"""How strong the colours are of rows beside a lit one."""


def draw_lead() -> None:
    """What the playground is for, in one sentence."""
    with st.container(key="front_lead"):
        st.markdown(
            "See what a transformer encoder does with your sentence, test what you think it does, and train one "
            "yourself."
        )


@fragment
def draw_cards() -> None:
    """A card for each tour; or the page on which the tour begins that a press has asked for."""
    started = st.session_state.pop(_STARTED, None)
    if started:
        st.switch_page(page_named(TOURS[started].page), query_params={})
    evidence = gather_evidence()
    with st.container(key="cards"):
        for column, tour in zip(st.columns(len(TOURS), gap="small"), TOURS.values(), strict=False):
            with column, st.container(key=f"card_{tour.name}", border=True, gap="xsmall", height="stretch"):
                _draw_card(tour, evidence)


def _draw_card(tour: Tour, evidence: Evidence) -> None:
    lacking = tour.needs(evidence.state)
    st.markdown(f"## {tour.title_for(evidence.state)}")
    try:
        picture = None if tour.picture is None else tour.picture(evidence)
    except PlaygroundError:  # the page below says what is wrong
        picture = None
    if picture is not None:
        st.html(_draw_map(picture) if isinstance(picture, SmallMap) else _draw_numbers(picture))
        if isinstance(picture, SmallMap) and picture.finding:
            st.markdown(picture.finding)
        st.caption(picture.caption)
    st.markdown(lacking or tour.question)
    minutes = f" · {tour.minutes} minutes" if tour.minutes else ""
    st.caption(f"{count_noun(len(tour.steps), 'step')}{minutes}")
    st.button(
        "Start with this one" if lacking else "Start",
        key=f"start_{tour.name}",
        icon=":material/play_arrow:",
        type="primary",
        on_click=_start,
        args=(tour.name,),
    )


def _start(name: str) -> None:
    if tour_line.start_tour(name, gather_evidence):
        st.session_state[_STARTED] = name


def _draw_map(picture: SmallMap) -> str:
    """The map as a picture of a dot a cell, the fainter the less weight it has; faint are rows beside a lit one.

    The name of the lit row stands beside its middle, those of columns above their edges.
    """
    dots = shrink(picture.cells[None, None])[0, 0]
    shades = SQUARE_ROOT.places(dots)
    n, names, shrunk = len(dots), "", -(-max(picture.cells.shape) // max(dots.shape))
    if picture.row is not None:
        row = picture.row[0] // shrunk
        shades[np.arange(n) != row] *= _UNLIT
        names = f'<span class="row" style="top: {100 * (row + 0.5) / n:.1f}%">{escape(picture.row[1])}</span>'
    lefts = [100 * (column // shrunk) / n for column, _ in picture.columns]
    is_apart = len(lefts) > 1 and lefts[1] - lefts[0] > _APART
    for number, (left, (_, name)) in enumerate(zip(lefts, picture.columns, strict=True)):
        ends = number == 0 and not is_apart  # where both are near to each other, the first one goes to the left
        if is_apart and left > 100 - _APART:
            ends = True
        edge = f"right: {100 - left - 100 / n:.1f}%" if ends else f"left: {left:.1f}%"
        names += f'<span class="column" style="{edge}">{escape(name)}</span>'
    pixels = np.zeros((*dots.shape, 4), np.uint8)  # the page's style gives them their colour
    pixels[..., 3] = np.rint(255 * shades)
    file = f"url(data:image/png;base64,{b64encode(_write_png(pixels)).decode()})"
    dotted = f'<div class="small-map" style="mask-image: {file}"></div>'
    return f'<div class="small-map-named">{dotted}{names}</div>' if names else dotted


def _write_png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of pixels (rows, columns, 4): red, green, blue and how opaque they are."""
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def _draw_numbers(picture: SmallNumbers) -> str:
    rows = "".join(
        f"<div><strong>{escape(number)}</strong> {escape(of)}</div>" for of, number in picture.numbers.items()
    )
    return f'<div class="small-numbers">{rows}</div>'
