"""Where the difference of two sentences sits: each vector of one is put into the other, and the sentence follows."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import sentence_pairs
from playground.figures.theme import shortened, token_names
from playground.figures.what_if import shares_by_place
from playground.link.opening import Focus
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text import Batch
from playground.web.choices.focus import current_focus
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.markdown import quote_place, quote_token
from playground.web.views.what_if.change_buttons import offer_changes
from playground.web.views.what_if.measurements.measuring import keep_measuring
from playground.web.views.what_if.measurements.sweep_caches import SweepKey, measure_rows, sweep_numbers
from playground.web.views.what_if.other_sentence import choose_other
from playground.web.views.what_if.pair_buttons import offer_pairs

_FORMULA = r"$1 - \lVert u' - v \rVert / \lVert u - v \rVert$"
"""What a number of the map is, as `sweeps.score_nearness` computes it."""

LEAST_NEARER = 0.005
"""The smallest share that a whole percentage does not round to 0."""


def draw_patches() -> None:
    """The other sentence, the map of places, the largest of them in words, and what makes a pair of sentences."""
    setup = current_setup()
    with panels.explain_errors():
        run, batch = caches.run_sentence(setup.untouched_key), setup.batch
    focus = current_focus(run)
    partners = sentence_pairs.find_partners(batch, setup.sentence)
    if partners:
        source = choose_other(setup, partners)
        _draw_map(setup, run, batch, focus, source)
    else:
        st.info(
            "A patch needs a second sentence with as many tokens as this one, and at least one other token. Your text "
            "has none: add one yourself, or press a button."
        )
    with panels.explain_errors():
        offer_pairs(setup, batch, focus)


def _draw_map(setup: Setup, run: Run, batch: Batch, focus: Focus, source: int) -> None:
    key = (setup.untouched_key, SweepKey("patches", source=source))
    with panels.explain_errors():
        growing = sweep_numbers(*key)
    measure = partial(measure_rows, *key)
    keep_measuring("whatif_patches", key, growing, measure, tried=f"{len(growing.numbers):,} places")
    n_layers, n_tokens = run.config.n_layers, int((~run.padding).sum())
    shares = growing.numbers.reshape(n_layers + 1, n_tokens)
    changed = sentence_pairs.changed_tokens(batch, setup.sentence, source)
    names = [
        f"{shortened(batch.tokens[source][i], 9)} for {shortened(token, 9)}" if i in changed else token
        for i, token in enumerate(batch.tokens[setup.sentence])
    ]
    st.markdown(_describe(shares, run, batch, source, changed))
    panels.chart(
        "patched_places",
        shares_by_place(shares, names, changed),
        caption=f"**One vector of sentence {source + 1} at a time is put into sentence {setup.sentence + 1}**, at one "
        "token and one depth: 0 is the embeddings, then the number of blocks passed. The number is how much nearer "
        f"that brings it: {_FORMULA}. Here $u$ is its vector, the mean over its tokens, $u'$ the same with the patch, "
        f"and $v$ that of sentence {source + 1}. 100 %: it is there; 0: no nearer than before; below 0: farther away, "
        "be it past $v$ or off to a side. Frames mark the tokens that differ: one stands *for* the other. Click a cell "
        "to choose its token, as the query, and the layer that it leaves.",
        alt=f"How much nearer to sentence {source + 1} each patched vector brings the sentence, by depth and token",
        overlay=frame_cell(
            "patched_places",
            focus,
            rows=Cells("layer", {layer + 1: layer for layer in range(n_layers)}),
            columns=Cells.of("query", range(n_tokens)),
            label="What leaves the chosen layer, in its row, at the chosen query, in its column. Arrow keys move them.",
        ),
        table=lambda: pd.DataFrame(shares, columns=token_names(batch.tokens[setup.sentence])).rename_axis(
            "blocks passed"
        ),
    )
    focused = quote_place(run.tokens, focus.query)
    patch = Change("patch", focus.layer, None, ("out", focus.query, source))
    embedding = Change("patch", None, None, ("embed", focus.query, source))
    offer_changes(
        "whatif_patch",
        {
            f"Patch {focused} after layer {focus.layer}": [patch],
            f"Patch the embedding of {focused}": [embedding],
        },
    )


def _describe(shares: Array, run: Run, batch: Batch, source: int, changed: list[int]) -> str:
    """Which tokens differ, and the places that bring most of the difference, with their numbers."""
    tokens = run.tokens
    names = [
        f"{quote_token(batch.tokens[source][i])} in place of {quote_place(tokens, i)}"
        if i in changed
        else quote_place(tokens, i)
        for i in range(shares.shape[1])
    ]
    pairs = [names[i] for i in changed[:4]]
    more = f" and {len(changed) - 4} more" if len(changed) > 4 else ""
    told = f"**{len(changed)} {'token differs' if len(changed) == 1 else 'tokens differ'}:** {', '.join(pairs)}{more}. "
    if not np.isfinite(shares).any():
        return f"{told}The two sentences' vectors are equal, or not finite: there is no distance to shorten."
    if np.isnan(shares).any():
        told += "Not all places are measured yet. "
    told += f"**How much nearer does one vector bring the sentence?** At the embeddings, {_name(shares[0], names)}. "
    for depth in dict.fromkeys((len(shares) // 2, len(shares) - 1)):
        if np.isfinite(shares[depth]).any():
            told += f"After {depth} {'block' if depth == 1 else 'blocks'}, {_name(shares[depth], names)}. "
    same = np.array([i not in changed for i in range(shares.shape[1])])
    elsewhere = np.where(same, shares, np.nan)
    if np.isfinite(elsewhere).any():
        depth = int(np.nanargmax(elsewhere)) // shares.shape[1]
        told += f"Of the tokens that both sentences share, {_name(elsewhere[depth], names, f' at depth {depth}')}."
    return told


def _name(row: Array, names: Sequence[str], where: str = "") -> str:
    """The place of a row (T,) that brings the sentence nearest, and by how much; that none does where none does."""
    place = int(np.nanargmax(row))
    if row[place] < LEAST_NEARER:
        return "none brings it any nearer"
    return f"{names[place]}{where} brings it nearest, by **{row[place]:.0%}**"
