"""The norms page's closer looks: token by token, before and after each norm, directions, and one norm by hand."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import norms, streams
from playground.figures import norms as figures
from playground.figures.theme import token_names
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.shared import panels
from playground.web.shared.markdown import quote_token


def look_closer(run: Run, lengths: dict[str, Array]) -> None:
    """One of the page's other views."""
    tokens = [token for token, padding in zip(run.tokens, run.padding, strict=True) if not padding]
    view = widgets.choice("norms_view", "Look closer")
    if view == "tokens":
        show_tokens(lengths, tokens)
    elif view == "statistics":
        show_statistics(run)
    elif view == "cosines":
        show_cosines(run, tokens)
    else:
        show_by_hand(run, tokens)


def show_tokens(lengths: dict[str, Array], tokens: list[str]) -> None:
    """One part's lengths, token by token."""
    part = widgets.choice("norms_part", "Length of")
    chosen, first = lengths[part], 0 if part == "residual" else 1
    panels.chart(
        "norms_by_token",
        figures.norms_by_token(chosen, tokens, first_depth=first),
        caption="A column is a token, a row a depth; the darker (on a dark page, the brighter), the longer. "
        f"The shortest vector has length {np.nanmin(chosen):.3g}, the longest {np.nanmax(chosen):.3g}.",
        alt=f"Heatmap of the L2 norm of each token's vector by depth: {figures.PARTS[part][0]}",
    )
    depths = [f"depth {depth}" for depth in range(first, first + len(chosen))]
    panels.numbers("norms_by_token", lambda: pd.DataFrame(chosen.T, token_names(tokens), depths))


def show_statistics(run: Run) -> None:
    """Mean and standard deviation before and after each norm."""
    statistics = norms.norm_statistics(norms.norm_points(run))
    before, after = statistics["std before"], statistics["std after"]
    told = "With norm = none, nothing happens here: before is after. " if run.config.norm == "none" else ""
    panels.chart(
        "norm_statistics",
        figures.norm_statistics(statistics),
        caption=f"Over one token's {run.config.d_model} features, then averaged over tokens. {told}What the norms are "
        f"given has a standard deviation of {before.min():.3g} to {before.max():.3g}; "
        f"what they hand out, {after.min():.3g} to {after.max():.3g}.",
        alt="Standard deviation and mean of the features before and after every norm",
    )
    panels.numbers("norm_statistics", lambda: statistics)


def show_cosines(run: Run, tokens: list[str]) -> None:
    """Where the vectors point: from depth to depth, and token against token."""
    stream = streams.residual_stream(run)
    depth = widgets.whole("norms_layer", "Tokens after how many blocks (0 = embeddings)", high=run.config.n_layers)
    left, right = st.columns(2)
    with left:
        between = streams.cosine_between_layers(stream)
        panels.chart(
            "cosines_between_layers",
            figures.cosines_between_layers(between),
            caption="A token's vector against itself at another depth, averaged over tokens: 1 is the same direction, "
            f"0 at right angles. Embeddings and last block: {between[0, -1]:.2f}.",
            alt="Heatmap of cosines between depths",
        )
        panels.numbers("cosines_between_layers", lambda: pd.DataFrame(between).rename_axis("blocks passed"))
    with right:
        cosines = streams.cosine_between_tokens(stream[depth])
        means = [streams.mean_of_pairs(streams.cosine_between_tokens(stream[d])) for d in (depth, 0, -1)]
        told = "two different ones have a mean cosine of {:.2f}; at the embeddings {:.2f}, after the last block {:.2f}."
        panels.chart(
            "cosines_between_tokens",
            figures.cosines_between_tokens(cosines, tokens),
            caption=f"Token against token at depth {depth}; "
            + (told.format(*means) if len(tokens) > 1 else "there is only one."),
            alt=f"Heatmap of cosines between tokens at depth {depth}",
        )
        panels.numbers(
            "cosines_between_tokens", lambda: pd.DataFrame(cosines, token_names(tokens), token_names(tokens))
        )


def show_by_hand(run: Run, tokens: list[str]) -> None:
    """One norm of one token, with its numbers."""
    if run.config.norm == "none":
        st.info("With norm = none there is nothing to work out: every norm hands its input on.")
        return
    points = norms.norm_points(run)
    left, right = st.columns(2)
    with left:
        point = points[widgets.whole("norms_norm", "Norm, in the order of the computation", high=len(points) - 1)]
    with right:
        token = widgets.whole("norms_token", "Token", high=len(tokens) - 1)
    x, out = point.before[token], point.after[token]
    hand = norms.normalise_by_hand(x, run.config)
    st.markdown(f"`{point.name}` of {quote_token(tokens[token])} at position {token}")
    st.latex(norms.formula(run.config))
    st.latex(norms.formula_with_numbers(x, hand, run.config))
    learned = "gain" if run.config.norm == "rms" else "gain and bias"
    st.caption(
        f"This by hand and by torch: the largest difference over {x.size} features is {hand.off:.1e}. "
        f"The norm's {learned} then make out₀ = {out[0]:.4g} of it."
    )
    table = {"x": x, "normalised by hand": hand.normalized, f"after {learned}": out}
    panels.numbers("norm_by_hand", lambda: pd.DataFrame(table).rename_axis("feature"))
