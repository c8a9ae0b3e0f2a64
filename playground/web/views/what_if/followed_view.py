"""What followed from the changes: against the run that nothing changes, on the same axes."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.effects.changed_stages import list_places
from playground.analysis.effects.vector_changes import stream_change
from playground.figures.effects.change_maps import vector_changes, vector_cosines
from playground.figures.theme import token_names
from playground.link.places import Focus
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.what_if.followed_button import FOLLOWED, scroll_on_arrival
from playground.web.views.what_if.following.answer_changes import draw_answers
from playground.web.views.what_if.following.attention_changes import draw_attention_changes
from playground.web.views.what_if.following.sentence_changes import draw_sentences


def draw_followed(run: Run, focus: Focus) -> None:
    """How far the changed run is from the untouched one: the sentence, its tokens' vectors, and attention."""
    with st.container(key=FOLLOWED):
        scroll_on_arrival()
        if not run.interventions:
            st.caption(_why_nothing_followed(current_setup()))
            return
        with panels.explain_errors():
            untouched = caches.run_sentence(current_setup().untouched_key)
        st.header("What became of the sentence?")
        draw_sentences(run, untouched)
    draw_answers(run, untouched)
    st.header("How far has each token moved?")
    _draw_vectors(run, untouched, focus)
    st.header("What became of attention?")
    draw_attention_changes(run, untouched, focus)


def _why_nothing_followed(setup: Setup) -> str:
    """One sentence or two for a run without any change."""
    n_unfit = len(setup.fitted_changes.reasons)
    if n_unfit:
        whose = (
            "Your change cannot apply here; its chip" if n_unfit == 1 else "Your changes cannot apply here; their chips"
        )
        return f"{whose} below the heading {'says' if n_unfit == 1 else 'say'} why."
    if setup.changes:
        return (
            "Your changes are switched off, so nothing has followed. Press a chip below the heading to make it again."
        )
    return "Nothing is changed, so nothing has followed. Make a change above, and its effects stand here."


def _draw_vectors(run: Run, untouched: Run, focus: Focus) -> None:
    change = stream_change(untouched, run)
    tokens = [token for token, padding in zip(run.tokens, run.padding, strict=True) if not padding]
    by_length = widgets.choice("whatif_measure", "Measured by") == "length of the change"
    numbers, places = change.relative if by_length else change.cosine, list_places(run.interventions)
    if by_length:
        figure, finite = vector_changes(numbers, tokens, places), numbers[np.isfinite(numbers)]
        told = (
            "The number is the length of the difference, divided by the vector's length before. The largest is "
            f"{finite.max(initial=0):.3g}."
        )
    else:
        figure = vector_cosines(numbers, tokens, places)
        told = (
            "The number is the cosine of the angle between the two: 1 is the same direction. The smallest is "
            f"{np.nanmin(numbers, initial=1):.3g}."
        )
    panels.chart(
        "whatif_vectors",
        figure,
        caption="How far is each token's vector from where the untouched model has it? A row is a depth, the number "
        f"of blocks passed; a column is a token. {told} Green frames mark where your changes first show. Click a cell "
        "to choose its token and layer.",
        alt="Heatmap of how far each token's vector has moved, by depth",
        overlay=frame_cell(
            "whatif_vectors",
            focus,
            rows=Cells("layer", {layer + 1: layer for layer in range(run.config.n_layers)}),
            columns=Cells.of("query", range(len(tokens))),
            label="The chosen layer, in its row, and token, in its column. Arrow keys move them.",
        ),
        table=lambda: pd.DataFrame(numbers.T, token_names(tokens), [f"depth {depth}" for depth in range(len(numbers))]),
    )
