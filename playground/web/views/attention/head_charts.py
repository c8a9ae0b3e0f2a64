"""The attention page: every head as a thumbnail, one pattern large, and the chosen view of it."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.figures import attention as figures
from playground.figures.heatmap import largest
from playground.figures.theme import token_names, token_table
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.head_grid import head_picker
from playground.web.shared.page_end import fragment
from playground.web.views.attention import attention_views, heads_view, stream_view, why_panel
from playground.web.views.attention.attention_views import Mask

HELP = {
    "show": "A head is one of the attention computations that run side by side in a layer.",
    "hide": "Leaves out padding and the tokens that the tokenizer added, such as [CLS] and [SEP], everywhere but in "
    "the entropies.",
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
    """The choice of a layer and its heads, and every chart that depends on it."""
    run = panels.shown_run()
    show = widgets.choice("attention_show", "Show", help_text=HELP["show"])
    average, difference = show == "average of heads", show == "difference of two heads"
    last_head = run.config.n_heads - 1
    with st.container(horizontal=True):
        layer = widgets.whole("attention_layer", "layer", high=run.config.n_layers - 1)
        head = 0 if average else widgets.whole("attention_head", "head", high=last_head)
        other = widgets.whole("attention_other", "minus head", high=last_head) if difference else None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        colours = widgets.choice("attention_colours", "Colours", help_text=HELP["colours"])
        hide = widgets.switch("attention_hide", "hide special tokens", help_text=HELP["hide"])
        stretch = widgets.switch("attention_stretch", "stretch colours", help_text=HELP["stretch"])

    visible = ~run.special if hide else np.full(len(run.tokens), True)
    heads = run.pattern(layer)
    pattern = heads.mean(axis=0) if average else heads[head]
    top = largest(pattern[np.ix_(visible, visible)]) if stretch and not difference else 1.0
    scale = figures.WeightScale(square_root=colours == "square root", top=top)
    name = f"layer {layer}, {'average of heads' if average else f'head {head}'}"
    grid, large = st.columns(2, gap="medium")
    with large:
        if other is None:
            sums = "add up to 1" if visible.all() else "add up to 1 or less, as tokens are hidden"
            reading = (
                f"A row is a query, the token that asks; a column is a key, the token asked. A row's weights {sums}."
            )
            _draw_pattern(run, pattern, visible, name, f"{reading} Colours are those of the thumbnails.", scale)
        else:
            reading = f"Violet: head {head} gives more weight. Orange: head {other} gives more."
            _draw_pattern(run, pattern - heads[other], visible, f"{name} minus head {other}", reading)
    with grid:
        _draw_grid(run, (layer, head), visible, scale, hide=hide)

    query = min(current_value("attention_query"), int((~run.padding).sum()) - 1)
    key = why_panel.strongest_key(run, layer, head, query)
    if show == "one head":
        why_panel.draw_why(run, layer, head, query, key)

    view = widgets.choice("attention_view", "Look closer", help_text=HELP["view"])
    if view == "lines":
        attention_views.draw_lines(run, pattern, name, visible)
    elif view == "ranking":
        attention_views.draw_ranking(run, pattern, name, visible)
    elif view == "entropy":
        attention_views.draw_entropies(run, layer, head)
    elif view == "heads that link":
        attention_views.pick_query(run)
        heads_view.draw_linking_heads(run, query, key)
    elif view == "what heads are known for":
        heads_view.draw_known_for(run, layer, head)
    elif view == "the query's stream":
        attention_views.pick_query(run)
        stream_view.draw_stream(run, query)
    else:
        attention_views.draw_rollout(run, layer, visible)


def _draw_pattern(
    run: Run, pattern: Array, visible: Mask, name: str, reading: str, scale: figures.WeightScale | None = None
) -> None:
    """One head's weights, or their average; without a scale, a difference of two heads."""
    is_difference = scale is None
    allowed = run.allowed & ~run.padding[:, None]
    if not allowed[np.ix_(visible, visible)].all():
        reading += " Grey cells are masked: padding, or tokens that a causal mask hides."
    panels.chart(
        "attention_pattern",
        figures.head_heatmap(
            pattern,
            run.tokens,
            allowed,
            shown=visible,
            scale=scale,
            signed=is_difference,
            magnitude=1.0 if is_difference else None,
            bar="difference" if is_difference else "weight",
        ),
        caption=f"**{name}.** {reading}",
        alt=f"Attention of {name}: queries in rows, keys in columns.",
        table=lambda: token_table(pattern, run.tokens).loc[visible, visible],
    )


def _draw_grid(run: Run, selected: tuple[int, int], visible: Mask, scale: figures.WeightScale, *, hide: bool) -> None:
    n_layers, n_heads = run.config.n_layers, run.config.n_heads
    with panels.explain_errors():
        thumbnails = caches.head_grid(current_setup().run_key, scale, hide_special=hide)
    hidden = " Special tokens are left out." if hide else ""
    head_picker(
        "attention_grid",
        thumbnails,
        (n_layers, n_heads),
        selected,
        sliders=("attention_layer", "attention_head"),
        caption="Every head, small: a row is a layer, a column is a head. "
        f"{_describe_scale(scale)}{hidden} Click a head to open it.",
        alt=f"Attention of all {n_layers} layers and {n_heads} heads as thumbnails.",
    )
    panels.numbers("attention_grid", lambda: _largest_weights(run, visible))


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
