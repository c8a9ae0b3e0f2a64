"""The front page's cards: an experiment each, with a small picture of a true result and the button that begins it."""

from html import escape

import streamlit as st

from playground.charts import palette
from playground.charts.weights import SQUARE_ROOT, shrink
from playground.errors import PlaygroundError
from playground.learn.tour import Evidence, SmallMap, SmallNumbers, Tour
from playground.learn.tours import TOURS
from playground.web.shared import tour_line
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment
from playground.web.views.tour_evidence import gather_evidence

_STARTED = "_tour_started"
"""Session key, in the run after a press on a card: the name of its tour."""

_LEAST = 0.06
"""The faintest colour, of 1, that a cell is drawn in: a fainter one cannot be told from none."""


@fragment
def draw_cards() -> None:
    """A card for each tour; or the page on which the tour begins that a press has asked for."""
    started = st.session_state.pop(_STARTED, None)
    if started:
        st.switch_page(page_named(TOURS[started].page), query_params={})
    evidence = gather_evidence()
    with st.container(key="cards"):
        for column, tour in zip(st.columns(len(TOURS), gap="small"), TOURS.values(), strict=True):
            with column, st.container(key=f"card_{tour.name}", border=True, gap="xsmall", height="stretch"):
                _draw_card(tour, evidence)


def _draw_card(tour: Tour, evidence: Evidence) -> None:
    st.markdown(f"### {tour.title}")
    try:
        picture = tour.picture(evidence)
    except PlaygroundError:  # the page below says what is wrong
        picture = None
    if picture is not None:
        st.html(_draw_map(picture) if isinstance(picture, SmallMap) else _draw_numbers(picture))
        st.caption(picture.caption)
    st.markdown(tour.question)
    n = len(tour.steps)
    st.caption(f"{n} {'step' if n == 1 else 'steps'} · {tour.minutes} minutes")
    st.button(
        "Start",
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
    """The map as a drawing whose cells are the fainter the less weight they have; a lit row has a frame."""
    dots = shrink(picture.cells[None, None])[0, 0]
    (n_rows, n_columns), block = dots.shape, -(-max(picture.cells.shape) // max(dots.shape))
    cells = "".join(
        f'<rect x="{column}" y="{row}" width="1" height="1" fill-opacity="{shade:.2f}"/>'
        for row, shades in enumerate(SQUARE_ROOT.places(dots).tolist())
        for column, shade in enumerate(shades)
        if shade >= _LEAST
    )
    lit = ""
    if picture.row is not None:
        lit = (
            f'<rect x="0" y="{picture.row // block}" width="{n_columns}" height="1" fill="none" '
            f'stroke="{palette.FOCUS}" stroke-width="2" vector-effect="non-scaling-stroke"/>'
        )
    return (
        f'<svg class="small-map" viewBox="0 0 {n_columns} {n_rows}" preserveAspectRatio="none" aria-hidden="true" '
        f'fill="{palette.ATTENTION}">{cells}{lit}</svg>'
    )


def _draw_numbers(picture: SmallNumbers) -> str:
    rows = "".join(
        f"<div><strong>{escape(number)}</strong> {escape(of)}</div>" for of, number in picture.numbers.items()
    )
    return f'<div class="small-numbers">{rows}</div>'
