"""The attention page: every head as a thumbnail, one pattern large, and the chosen view of it."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from playground.figures import attention as figures
from playground.figures.theme import largest, token_names
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.views.change_names import has_odd_rows, note_changes, note_set_weights
from playground.web.choices import widgets
from playground.web.choices.focus import move_focus
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.focus_line import show_focus
from playground.web.shared.head_map import Mask, draw_head_map, has_grey_cells, head_picker
from playground.web.shared.page_end import fragment
from playground.web.shared.pinned_charts import draw_pinned_head
from playground.web.shared.pinning import pinned_side, run_pinned
from playground.web.shared.saving import heads_of, saved_heads
from playground.web.views.attention import attention_views, heads_view, stream_view, why_panel
from playground.web.views.attention.quick_changes import draw_quick_changes

HELP = {
    "show": "A head is one of the attention computations that run side by side in a layer.",
    "hide": "Leaves out padding and the tokens that the tokenizer added, such as [CLS] and [SEP], of maps, lines, "
    "ranking and rollout. What is computed stays as it is: Why, the entropies, heads that link and what heads are "
    "known for count special tokens, hidden or not.",
    "colours": "Of the thumbnails and of the large map. square root: faint attention shows too. linear: a colour half "
    "as strong is half the weight. A difference is always linear.",
    "stretch": "Ends the colours of thumbnails and large map at the large map's largest weight instead of at 1. A "
    "difference always ends at its largest.",
    "view": "lines: every query's strongest keys. ranking: one query's keys, the strongest first. "
    "entropy: how spread out each head is. rollout: attention traced back to the input. heads that link: all heads by "
    "the weight from the query to its key. what heads are known for: previous token, [SEP] and other habits. "
    "the query's stream: what writes to its vector.",
}


@fragment
def explore_heads() -> None:
    """The focus, and every chart that depends on it."""
    run = panels.shown_run()
    focus = show_focus(run)
    layer, head = focus.layer, focus.head
    with st.container(horizontal=True, vertical_alignment="bottom"):
        show = widgets.choice("attention_show", "Show", help_text=HELP["show"])
        colours = widgets.choice("attention_colours", "Colours", help_text=HELP["colours"])
        hide = widgets.switch("attention_hide", "hide special tokens", help_text=HELP["hide"])
        stretch = widgets.switch("attention_stretch", "stretch colours", help_text=HELP["stretch"])
    average, difference = show == "average of heads", show == "difference of two heads"
    other = widgets.whole("attention_other", "minus head", high=run.config.n_heads - 1) if difference else None

    visible = ~run.special if hide else np.full(len(run.tokens), True)
    heads = run.pattern(layer)
    pattern = heads.mean(axis=0) if average else heads[head]
    top = largest(pattern[np.ix_(visible, visible)]) if stretch and not difference else 1.0
    scale = figures.WeightScale(square_root=colours == "square root", top=top)
    name = f"layer {layer}, {'average of heads' if average else f'head {head}'}"
    # What a click on a cell changes is drawn first, for the browser paints what it has: the answer, and the thumbnails
    # below it last.
    large, beside = st.columns(2, gap="medium")
    explanation = None
    if show == "one head":
        with beside:
            explanation = why_panel.draw_answer(run, layer, head, focus.query, focus.key)
    with large:
        if other is None:
            sums = "add up to 1" if visible.all() else "add up to 1 or less, as tokens are hidden"
            if has_odd_rows(run, layer):
                sums = "add up to 1, but where one was set after the softmax"
            reading = (
                f"A row is a query, the token that asks; a column is a key, the token asked. A row's weights {sums}."
            )
            reading += " Colours are those of the thumbnails."
            reading += note_set_weights(run, layer, None if average else head)
            _draw_pattern(run, focus, pattern, visible, name, reading, scale)
        else:
            reading = f"Violet: head {head} gives more weight. Orange: head {other} gives more."
            _draw_pattern(run, focus, pattern - heads[other], visible, f"{name} minus head {other}", reading)
    side = pinned_side()
    pinned = run_pinned(side)
    if side and pinned:
        draw_pinned_head(run, pinned, side, focus, pattern, scale, average=average, hide=hide)

    if show == "one head":
        with beside:
            draw_quick_changes(run, focus)
    if explanation:
        why_panel.draw_steps(explanation)
    with beside:
        _draw_grid(run, (layer, head), visible, scale, hide=hide)

    view = widgets.choice("attention_view", "Look closer", help_text=HELP["view"])
    if view == "lines":
        attention_views.draw_lines(run, focus, pattern, name, visible)
    elif view == "ranking":
        attention_views.draw_ranking(run, focus, pattern, name, visible)
    elif view == "entropy":
        attention_views.draw_entropies(run, focus)
    elif view == "heads that link":
        heads_view.draw_linking_heads(run, focus.query, focus.key)
    elif view == "what heads are known for":
        heads_view.draw_known_for(run, layer, head)
    elif view == "the query's stream":
        stream_view.draw_stream(run, focus.query)
    else:
        attention_views.draw_rollout(run, layer, visible)


def _draw_pattern(
    run: Run,
    focus: Focus,
    pattern: Array,
    visible: Mask,
    name: str,
    reading: str,
    scale: figures.WeightScale | None = None,
) -> None:
    """One head's weights, or their average; without a scale, a difference of two heads."""
    if has_grey_cells(run, visible):
        reading += " Grey cells are masked: padding, or tokens that a causal mask hides."
    draw_head_map(
        "attention_pattern",
        run,
        pattern,
        visible,
        focus,
        scale,
        caption=f"**{name}.** {reading} Click a cell to choose its query and its key.",
        alt=f"Attention of {name}: queries in rows, keys in columns.",
        file=f"attention_{name}",
    )


def _draw_grid(run: Run, selected: tuple[int, int], visible: Mask, scale: figures.WeightScale, *, hide: bool) -> None:
    n_layers, n_heads = run.config.n_layers, run.config.n_heads
    with panels.explain_errors():
        thumbnails = caches.head_grid(current_setup().run_key, scale, hide_special=hide)
    hidden = " Special tokens are left out." if hide else ""
    shown = [run.tokens[place] for place in np.flatnonzero(visible)]
    head_picker(
        "attention_grid",
        thumbnails,
        (n_layers, n_heads),
        selected,
        places=("layer", "head"),
        caption="Every head, small: a row is a layer, a column is a head. "
        f"{_describe_scale(scale)}{hidden}{note_changes(run)} Click a head to open it.",
        alt=f"Attention of all {n_layers} layers and {n_heads} heads as thumbnails.",
        saved=saved_heads(
            "attention_all_heads", heads_of(run.patterns, visible), shown, shown, n_layers * n_heads, scale
        ),
    )
    panels.numbers(
        "attention_grid",
        lambda: _largest_weights(run, visible),
        "The numbers: click a row to open its head",
        on_row=partial(_open_row, n_heads),
    )


def _open_row(n_heads: int, row: int) -> None:
    """Open the head of a row of the table, which has layer after layer."""
    layer, head = divmod(row, n_heads)
    move_focus(layer=layer, head=head)


def _describe_scale(scale: figures.WeightScale) -> str:
    how = "the square root of the weight, so that faint attention shows too" if scale.square_root else "the weight"
    end = f" All weights from {scale.top:.2g} on have the strongest." if scale.top < 1 else ""
    return f"A stronger colour means more weight; it follows {how}.{end}"


def _largest_weights(run: Run, visible: Mask) -> pd.DataFrame:
    """Every head's largest weight between visible tokens, with its query and its key."""
    patterns = run.patterns()[:, :, visible][..., visible]
    n_layers, n_heads, n_tokens, _ = patterns.shape
    if n_tokens == 0:
        return pd.DataFrame()
    query, key = np.divmod(patterns.reshape(n_layers * n_heads, -1).argmax(axis=1), n_tokens)
    labels = np.array(token_names(run.tokens))[visible]
    return pd.DataFrame(
        {
            "layer": np.repeat(np.arange(n_layers), n_heads),
            "head": np.tile(np.arange(n_heads), n_layers),
            "largest weight": patterns.max(axis=(2, 3)).ravel(),
            "query": labels[query],
            "key": labels[key],
        }
    )
