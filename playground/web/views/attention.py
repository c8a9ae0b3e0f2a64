"""What can be read off one attention pattern: the views below the large heatmap."""

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from playground.analysis.attention import highest_entropy, mean_entropy, rollout
from playground.figures import attention as figures
from playground.figures.theme import token_names
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.components.head_lines import draw_head_lines, head_lines, strongest_keys
from playground.web.shared import panels
from playground.web.shared.markdown import quote_token


def lines(run: Run, pattern: Array, shown: NDArray[np.bool_] | None) -> None:
    """Every query's strongest keys, as lines."""
    query, name = _pick_query(run)
    most = strongest_keys(len(run.tokens))
    draw_head_lines(
        "attention_lines",
        head_lines(pattern, run.tokens, query, shown=~run.padding if shown is None else shown),
        caption=f"Each query's strongest keys, {most} at most: the thicker, the more weight. Coloured: {name}.",
        alt=f"Lines from each query to the keys it attends to most, query {query} in colour.",
    )
    panels.numbers("attention_lines", lambda: _weights(run, pattern[query]))


def ranking(run: Run, pattern: Array) -> None:
    """What one query attends to, strongest first."""
    query, name = _pick_query(run)
    panels.chart(
        "attention_ranking",
        figures.query_ranking(pattern[query], run.tokens, run.allowed[query]),
        caption=f"What {name} attends to, strongest first.",
        alt=f"Bars: attention weights of query {query}.",
    )
    panels.numbers("attention_ranking", lambda: _weights(run, pattern[query]))


def entropies(run: Run, layer: int, head: int) -> None:
    """How spread out every head is."""
    real = ~run.padding
    bits, most = mean_entropy(run.patterns(), real), highest_entropy(run.allowed, real)
    panels.chart(
        "attention_entropy",
        figures.entropy_grid(bits, (layer, head)),
        caption=r"How spread out each head is, $-\sum p \log_2 p$ averaged over queries: 0 bits if each attends to one "
        f"token, {most:.2f} if each attends to all that it may, evenly. "
        f"Layer {layer}, head {head}: {bits[layer, head]:.2f} bits.",
        alt="Mean entropy of every head, in bits.",
    )
    panels.numbers("attention_entropy", lambda: pd.DataFrame(bits).rename_axis("layer").rename_axis("head", axis=1))


def rolled_out(run: Run, layer: int, shown: NDArray[np.bool_] | None) -> None:
    """Attention traced back to the input."""
    shares = rollout(run.patterns(), residual=run.config.residual)[layer]
    real = ~run.padding
    stays = "half of each token staying where it is, " if run.config.residual else ""
    axes = ("place in the layer", "input token")
    panels.chart(
        "attention_rollout",
        figures.head_heatmap(shares, run.tokens, real & real[:, None], shown=shown, stretch=True, axes=axes),
        caption=f"Attention rollout (Abnar & Zuidema 2020) up to layer {layer}: heads averaged, {stays}"
        "layers multiplied. A row says what share of each input token has reached that place.",
        alt=f"Attention rollout from the input to layer {layer}.",
    )
    labels = token_names(run.tokens)
    panels.numbers("attention_rollout", lambda: pd.DataFrame(shares, index=labels, columns=labels))


def strongest(run: Run) -> pd.DataFrame:
    """Every head's largest weight, and between which tokens it lies."""
    patterns = run.patterns()
    n_layers, n_heads, n_tokens, _ = patterns.shape
    query, key = np.divmod(patterns.reshape(n_layers * n_heads, -1).argmax(axis=1), n_tokens)
    labels = np.array(token_names(run.tokens))
    return pd.DataFrame(
        {
            "layer": np.repeat(np.arange(n_layers), n_heads),
            "head": np.tile(np.arange(n_heads), n_layers),
            "largest weight": patterns.max(axis=(2, 3)).ravel(),
            "query": labels[query],
            "key": labels[key],
        }
    )


def _weights(run: Run, row: Array) -> pd.DataFrame:
    table = pd.DataFrame({"key": token_names(run.tokens), "weight": row})
    return table.sort_values("weight", ascending=False, ignore_index=True)


def _pick_query(run: Run) -> tuple[int, str]:
    query = widgets.whole("attention_query", "query token, by its position", high=int((~run.padding).sum()) - 1)
    name = f"{quote_token(run.tokens[query])} at position {query}"
    st.markdown(f"Query: {name}")
    return query, name
