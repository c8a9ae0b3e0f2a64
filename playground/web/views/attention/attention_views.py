"""Four views of one attention pattern: its lines, one query's ranking, every head's entropy, and rollout.

Beside each stands what the pinned run has there: see `pinned_views`.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.attention import highest_entropy, mean_entropy, rollout
from playground.charts.head_lines import SMALLEST_WEIGHT, choose_tokens, head_lines, strongest_keys
from playground.charts.markdown import quote_token
from playground.export.tables import rows_of
from playground.figures import attention as figures
from playground.figures.theme import largest, token_names, token_table
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.views.change_names import has_odd_rows
from playground.web.choices.focus import move_focus
from playground.web.components.head_lines import clicked_tokens
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.head_map import Mask
from playground.web.shared.saving import Saved
from playground.web.views.attention import pinned_views


def draw_lines(run: Run, focus: Focus, pattern: Array, name: str, visible: Mask) -> None:
    """Every query's strongest keys as lines, the focus's query in colour."""
    query, query_name = focus.query, _name_query(run, focus)
    visible = visible & ~run.padding
    drawn = choose_tokens(pattern[query], query, focus.key, shown=visible)
    n_drawn, n_visible = int(drawn.sum()), int(visible.sum())
    colour = f"In colour: {query_name}." if visible[query] else f"{query_name} is hidden."
    left_out = (
        f" Of {n_visible} tokens, {n_drawn} are drawn: the chosen key, those nearest to the query, and the keys "
        "that it attends to most."
        if n_drawn < n_visible
        else ""
    )
    pinned = pinned_views.find_pattern(run, focus)
    now, before = (st.container(), None) if pinned is None else st.columns(2, gap="medium")
    with now:
        panels.head_lines(
            "attention_lines",
            head_lines(pattern, run.tokens, query, focus.key, shown=drawn),
            caption=f"**{name}.** Lines join each query (left) to its strongest keys (right), at most "
            f"{strongest_keys(max(1, n_drawn))}. A thicker line means more weight; weights under {SMALLEST_WEIGHT} are "
            f"left out. {colour}{left_out} Click a line, or a token on either side, to choose it.",
            alt=f"Lines from each query to the keys it attends to most, query {query} in colour.",
            on_click=partial(_take_click, "attention_lines"),
            saved=_saved_lines(focus, run.tokens, pattern, drawn),
        )
    if pinned is not None and before is not None:
        with before:
            panels.head_lines(
                "attention_lines_pinned",
                head_lines(pinned.pattern, run.tokens, query, focus.key, shown=drawn),
                caption=f"**{pinned.name}.** The same tokens, and the same width for the same weight.",
                alt="The same lines of the pinned run.",
                on_click=partial(_take_click, "attention_lines_pinned"),
                saved=_saved_lines(focus, run.tokens, pinned.pattern, drawn, "_pinned"),
            )
    _draw_query_weights("attention_lines", run, pattern[query], visible, pinned.pattern[query] if pinned else None)


def draw_ranking(run: Run, focus: Focus, pattern: Array, name: str, visible: Mask) -> None:
    """What the focus's query attends to, of the visible keys."""
    query, query_name = focus.query, _name_query(run, focus)
    pinned = pinned_views.find_pattern(run, focus)
    before, paler, first = None, "", "the strongest key first"
    allowed = run.allowed[query] & visible
    if pinned is not None:
        before, allowed = pinned.pattern[query], allowed | (pinned.run.allowed[query] & visible)
        paler, first = f" The paler bar below each: {pinned.name}.", f"{first}, by the larger of its two weights"
    ranked = figures.ranked_keys(pattern[query], allowed, before)
    hidden = (
        "" if visible.all() else f" Hidden keys are left out; theirs add up to {pattern[query, ~visible].sum():.2f}."
    )
    panels.chart(
        "attention_ranking",
        figures.query_ranking(pattern[query], run.tokens, allowed, before),
        caption=f"**{name}.** What {query_name} attends to, {first}.{paler}{hidden} Click a bar to choose its key.",
        alt=f"Bars: attention weights of query {query}.",
        saved=Saved(f"attention_ranking_layer{focus.layer}_head{focus.head}_query{query}"),
        overlay=frame_cell(
            "attention_ranking",
            focus,
            rows=Cells.of("key", ranked),
            label="The chosen key. Arrow keys choose its neighbours.",
        ),
    )
    _draw_query_weights("attention_ranking", run, pattern[query], visible, before)


def draw_entropies(run: Run, focus: Focus) -> None:
    """How spread out every head is, over all tokens but padding."""
    real = ~run.padding
    layer, head = focus.layer, focus.head
    bits, highest = mean_entropy(run.patterns(), real), highest_entropy(run.allowed, real)
    before = pinned_views.find_entropies(run)
    top = None if before is None else max(largest(bits), largest(before))
    panels.chart(
        "attention_entropy",
        figures.entropy_grid(bits, top=top),
        caption=r"How spread out is each head? Its entropy is $-\sum p \log_2 p$ over keys, averaged over queries. It "
        f"is 0 bits if every query attends to one token, and {highest:.2f} if every query spreads evenly over all keys "
        f"that it may attend to. Layer {layer}, head {head}: {bits[layer, head]:.2f} bits. "
        + note_special_tokens(run)
        + (" Rows with a weight set after the softmax do not add up to 1, and count as they are." * has_odd_rows(run)),
        alt="Mean entropy of every head, in bits.",
        overlay=frame_cell(
            "attention_entropy",
            focus,
            rows=Cells.of("layer", range(run.config.n_layers)),
            columns=Cells.of("head", range(run.config.n_heads)),
            label="The open layer, in its row, and head, in its column. Arrow keys open their neighbours.",
        ),
        table=lambda: pd.DataFrame(bits).rename_axis("layer").rename_axis("head", axis=1),
    )
    if before is not None and top is not None:
        pinned_views.draw_entropies(run, bits, before, top)


def note_special_tokens(run: Run, count: str = "count") -> str:
    """That special tokens count in numbers which hiding them leaves as they are; empty where there are none."""
    return f"Special tokens {count}, hidden or not." if (run.special & ~run.padding).any() else ""


def draw_rollout(run: Run, layer: int, visible: Mask) -> None:
    """Which share each input token has in each position of the layer, by attention alone."""
    shares = rollout(run.patterns(), residual=run.config.residual)[layer]
    before = pinned_views.find_rollout(run, layer)
    numbers = shares if before is None else np.stack([shares, before])
    top = largest(numbers[..., visible & ~run.padding, :][..., visible & ~run.padding])
    scale = figures.WeightScale(square_root=False, top=top)
    residual = "keeps half of each token in place, as the residual connection does, " if run.config.residual else ""
    sums = "add up to 1" if visible.all() else "add up to 1 or less, as tokens are hidden"
    if has_odd_rows(run):
        sums = "need not add up to 1, as a weight was set after the softmax"
    panels.chart(
        "attention_rollout",
        pinned_views.rollout_map(run, shares, visible, scale),
        caption=f"Where does layer {layer} get its information from? Attention rollout (Abnar & Zuidema 2020) "
        f"estimates it: it averages the heads, {residual}and multiplies the layers. A row is one position. Its cells "
        f"are the shares that the input tokens have in it; they {sums}. Rollout knows attention weights alone: it "
        f"ignores values and the feed-forward.{pinned_views.warn_of_rollout(run)}",
        alt=f"Attention rollout from the input to layer {layer}.",
        saved=Saved(f"attention_rollout_layer{layer}"),
        table=lambda: token_table(shares, run.tokens).loc[visible, visible],
    )
    if before is not None:
        pinned_views.draw_rollout(run, layer, shares, before, visible, scale)


def _saved_lines(focus: Focus, tokens: Sequence[str], pattern: Array, drawn: Mask, side: str = "") -> Saved:
    """What the menu of a head's lines saves: the lines, and the weights of all drawn tokens."""
    weights = token_table(pattern, tokens).loc[drawn, drawn].rename_axis("query").rename_axis("key [weight]", axis=1)
    return Saved(f"attention_lines_layer{focus.layer}_head{focus.head}{side}", numbers=partial(rows_of, weights))


def _take_click(key: str) -> None:
    """Take the query, the key, or both, that were clicked among the lines."""
    clicked = clicked_tokens(key)
    move_focus(**clicked)


def _draw_query_weights(key: str, run: Run, row: Array, visible: Mask, before: Array | None) -> None:
    """One query's weights (T,) on visible keys as a table, the largest first; a click on a row chooses its key.

    Beside the pinned run's row, `before`, the differences too.
    """
    order = [int(position) for position in np.argsort(-row, kind="stable") if visible[position]]
    names = np.array(token_names(run.tokens))
    weights = {"weight": row} if before is None else {"weight": row, "pinned": before, "now − pinned": row - before}
    panels.numbers(
        key,
        lambda: pd.DataFrame({"key": names[order], **{name: column[order] for name, column in weights.items()}}),
        "The numbers: click a row to choose its key",
        on_row=partial(_choose_key, order),
    )


def _choose_key(order: Sequence[int], row: int) -> None:
    move_focus(key=order[row])


def _name_query(run: Run, focus: Focus) -> str:
    """The query's token and position in words."""
    return f"{quote_token(run.tokens[focus.query])} at position {focus.query}"
