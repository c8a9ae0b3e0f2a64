"""The position table of this encoder as a heatmap."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.figures import positions as figures
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices.setup import current_setup, is_random
from playground.web.session import caches
from playground.web.shared import panels

DESCRIPTIONS = {
    "learned": "**This table is learned.** Its rows are parameters, like every other weight.",
    "sinusoidal": "**This table is made of sines and cosines.** Each pair of dimensions changes more slowly than the "
    "pair before it. Nothing in the table is learned.",
    "sinusoidal-doubled": "**This is tutorial B's table of sines and cosines.** Its exponent counts twice, so most "
    "dimensions hardly change. Nothing in the table is learned.",
    "none": "**This encoder adds no positions** (`positions = none`). The standard table is drawn for comparison.",
}


def load_rows() -> Array:
    """The first rows of the position table, (positions, d_model); the standard table's where the encoder has none."""
    setup = current_setup()
    with panels.explain_errors():
        return caches.position_rows(setup.weights, setup.config, setup["seed"])


def show_table(run: Run) -> None:
    """The table that the model uses, and what kind of table it is."""
    rows = load_rows()
    random = run.config.positions == "learned" and is_random(current_setup().weights)
    caution = " Its numbers are random: nothing is trained yet." if random else ""
    st.markdown(
        "Attention by itself treats the tokens as a set: it does not know their order. A position table can add the "
        "order. Its row $P_t$ is added to the vector of the token at position $t$. "
        f"{DESCRIPTIONS[run.config.positions]}{caution}"
    )
    drawn = rows[: figures.MAX_POSITIONS, : figures.MAX_DIMENSIONS]
    n, d = drawn.shape
    panels.chart(
        "position_table",
        figures.table_heatmap(rows),
        caption="Each row is the vector of one position; each column is one of its numbers, a *dimension*. "
        f"Drawn: positions 0 to {n - 1} of {run.config.max_len}, dimensions 0 to {d - 1} of {rows.shape[1]}. "
        f"Colours end at ±{figures.colour_limit(drawn):.3g}; at least 99 % of the numbers lie within. "
        f"{_describe_lengths(rows)}",
        alt="Heatmap of the position table: positions in rows, dimensions in columns.",
    )
    panels.numbers("position_table", lambda: pd.DataFrame(drawn).rename_axis("position"))


def _describe_lengths(rows: Array) -> str:
    lengths = np.linalg.norm(rows[: figures.MAX_POSITIONS], axis=1)
    longest = int(lengths.argmax())
    if lengths.max() - lengths.min() < 0.01 * lengths.max():
        return f"Every row has a length (L2 norm) of about {lengths.mean():.3g}."
    return (
        f"The longest row is that of position {longest}, with a length (L2 norm) of {lengths[longest]:.3g}. "
        f"The mean length is {lengths.mean():.3g}."
    )
