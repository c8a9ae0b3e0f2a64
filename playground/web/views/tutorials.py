"""The tutorials page's parts: the five side by side, where their numbers part, and one of them at a time."""

import pandas as pd
import streamlit as st

from playground.figures import tutorials as figures
from playground.model import Trace
from playground.presets import PRESETS
from playground.tutorials import comparison
from playground.tutorials.catalogue import TUTORIALS, Mistake
from playground.tutorials.table import NAMES, Row, table
from playground.web.choices import widgets
from playground.web.choices.shortcuts import apply_preset
from playground.web.shared import panels
from playground.web.shared.navigation import pages
from playground.web.shared.page_end import fragment


def side_by_side() -> None:
    """Every property of the five, those that stand out marked."""
    rows = table()
    columns = {letter: [_cell(row, letter) for row in rows] for letter in NAMES}
    changes = [row.changes for row in rows]
    st.table(pd.DataFrame(columns | {"where it differs, so do": changes}, index=[f"**{row.name}**" for row in rows]))
    st.caption(
        "Marked: what most of the five do otherwise. Read from the presets of the sidebar, but for the last two "
        "rows: how a tutorial masks and where it drops is no field of an architecture."
    )


def _cell(row: Row, letter: str) -> str:
    text = f":violet-background[{row.cells[letter]}]" if letter in row.unusual() else row.cells[letter]
    return f"{text} ({row.notes[letter]})" if letter in row.notes else text


@st.cache_resource(max_entries=4, show_spinner=False)
def _traces(seed: int) -> dict[str, Trace]:
    return {letter: comparison.trace_of(comparison.small_config(letter), seed) for letter in NAMES}


@st.cache_resource(max_entries=20, show_spinner=False)
def _causes(against: str, seed: int) -> list[comparison.Cause]:
    return comparison.causes(against, seed)


def answer(seed: int) -> None:
    """The page's question answered in one sentence, from this run's numbers."""
    distances = comparison.matrix(_traces(seed))
    pairs = {f"{a} and {b}": distances[i, j] for i, a in enumerate(NAMES) for j, b in enumerate(NAMES) if i < j}
    nearest, farthest = min(pairs, key=pairs.__getitem__), max(pairs, key=pairs.__getitem__)
    st.markdown(
        "**All of them: no two give the same numbers**, even with the same weights and the same words. Nearest are "
        f"{nearest}, whose outputs differ by up to {pairs[nearest]:.2f}; farthest apart {farthest}, by up to "
        f"{pairs[farthest]:.2f}."
    )


@fragment
def parting(seed: int) -> None:
    """How far apart the outputs are, where that begins, and which field it comes from."""
    traces, sizes = _traces(seed), comparison.SIZES
    st.markdown(
        f"Five small encoders, run in double precision on {sizes['vocab_size']} different words: d_model "
        f"{sizes['d_model']}, {sizes['n_heads']} heads, {sizes['n_layers']} layers, one token table and one set of "
        f"linear maps for all, drawn from seed {seed}, norms as they start, no dropout. C takes positions as already "
        "added, so it gets the standard ones."
    )
    left, right = st.columns([2, 3])
    with left:
        panels.chart(
            "tutorials_matrix",
            figures.difference_matrix(comparison.matrix(traces), list(NAMES)),
            caption="Largest difference between two tutorials' outputs, whose numbers are about 1 in size.",
            alt="Matrix of the largest difference of outputs between each two tutorials.",
        )
    with right:
        against = widgets.choice("tutorials_against", "Compare the others with")
        by_point = comparison.by_point(traces, against)
        panels.chart(
            "tutorials_where",
            figures.differences_by_point(by_point, comparison.point_names()),
            caption=f"Where each one leaves {against}, in the order of computation: a cell at 0 is still the same. "
            "Points are named as in a trace, after the number of their layer.",
            alt=f"Largest difference from tutorial {against} at each point of the forward pass, by tutorial.",
        )
    found = sorted(_causes(against, seed), key=lambda cause: -cause.effect)
    lines = []
    for letter, differences in by_point.items():
        start = comparison.first_apart(differences)
        why = "; ".join(_told(cause) for cause in found if cause.letter == letter)
        lines.append(f"- **{letter}** gives other numbers than {against} from `{start}` on: {why}.")
    st.markdown("\n".join(lines))
    st.caption(
        f"In brackets: how far the output moves when that field alone is changed in {against}. Effects do not add up: "
        "each meets the others on the way."
    )
    panels.numbers("tutorials_where", lambda: pd.DataFrame(by_point, index=pd.Index(comparison.point_names())))


def _told(cause: comparison.Cause) -> str:
    effect = f"{cause.effect:.2g}" if cause.effect > comparison.APART else "nothing: only the layout differs"
    return f"**{cause.field}** {cause.here} instead of {cause.there} ({effect})"


def one_by_one() -> None:
    """What one tutorial is, what it teaches and where, and what is wrong in it."""
    letter = widgets.choice("tutorials_letter", "Tutorial")
    tutorial, preset = TUTORIALS[letter], PRESETS[NAMES[letter]]
    st.markdown(f"**{preset.title}.** {tutorial.what} As a preset: {preset.source}.")
    odd = [f"**{row.name}** {row.cells[letter]}" for row in table() if letter in row.unusual()]
    st.markdown(f"Unlike most of the five: {'; '.join(odd)}.")
    st.markdown("**What it teaches**")
    there = pages()
    titles = {name: page.title for name, page in there.items()}
    shown = [f" *{titles[lesson.page]}*" if lesson.page in titles else "" for lesson in tutorial.lessons]
    st.markdown("\n".join(f"- {lesson.text}{where}" for lesson, where in zip(tutorial.lessons, shown, strict=True)))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("Open as preset:", width="content")
        for name in dict.fromkeys(("overview", *(lesson.page for lesson in tutorial.lessons))):
            if name in there and st.button(
                titles[name],
                key=f"tutorials_open_{name}",
                icon=there[name].icon,
                on_click=apply_preset,
                args=(NAMES[letter],),
            ):
                st.switch_page(there[name], query_params={})
    st.markdown("**Mistakes found in it**")
    for mistake in tutorial.mistakes:
        _tell(mistake)
    demonstrations = [mistake.demonstration for mistake in tutorial.mistakes if mistake.demonstration]
    panels.code_behind("tutorials", *demonstrations, comparison.build, comparison.causes)


def _tell(mistake: Mistake) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**{mistake.where[0].upper()}{mistake.where[1:]}**: {mistake.printed}. {mistake.happens}")
        if mistake.demonstration is not None:
            st.caption(f":material/play_arrow: {mistake.demonstration()}")
