"""The position table: as a heatmap, single dimensions, similarity of positions, the exponent once or twice."""

from typing import SupportsFloat

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import positions
from playground.config import Positions
from playground.figures import positions as figures
from playground.model.positions import sinusoids, wavelengths
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.focus import Focus
from playground.web.choices.setup import current_setup, is_random
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell

DESCRIPTIONS = {
    "learned": "**This table is learned.** Its rows are parameters, like every other weight.",
    "sinusoidal": "**This table is made of sines and cosines.** Each pair of dimensions changes more slowly than the "
    "pair before it. Nothing in the table is learned.",
    "sinusoidal-doubled": "**This is the table of tutorial B · Encoder Block.** Its exponent counts twice, so most "
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
        table=lambda: pd.DataFrame(drawn).rename_axis("position"),
    )


def _describe_lengths(rows: Array) -> str:
    """The lengths (L2 norms) of the rows that are drawn, over all their dimensions."""
    lengths = np.linalg.norm(rows[: figures.MAX_POSITIONS], axis=1)
    n, longest = len(lengths), int(lengths.argmax())
    if lengths.max() - lengths.min() < 0.01 * lengths.max():
        return f"Each of these {n} rows has a length (L2 norm) of about {lengths.mean():.3g}."
    return (
        f"The mean length (L2 norm) of these {n} rows is {lengths.mean():.3g}. The longest is that of position "
        f"{longest}: {lengths[longest]:.3g}."
    )


def show_curves(run: Run, rows: Array) -> None:
    """Three dimensions of the table as curves over the positions."""
    last = rows.shape[1] - 1
    with st.container(horizontal=True):
        chosen = [widgets.whole(f"positions_curve_{i}", f"dimension, curve {i}", high=last) for i in (1, 2, 3)]
    dimensions = list(dict.fromkeys(chosen))
    kind = "sinusoidal" if run.config.positions == "none" else run.config.positions
    st.latex(positions.formula(kind))
    st.latex(positions.formula_with_numbers(kind, rows, int((~run.padding).sum()) - 1, chosen[1]))
    if kind == "learned":
        reading = "A learned table has no wavelengths: only training can bring regularity into it."
    else:
        waves = wavelengths(rows.shape[1], doubled=kind == "sinusoidal-doubled")
        lengths = ", ".join(
            f"{_round_length(waves[dimension // 2])} (dimension {dimension})" for dimension in dimensions
        )
        reading = f"A curve repeats after its *wavelength*. Wavelengths here, in positions: {lengths}."
    table = pd.DataFrame(rows[: figures.MAX_POSITIONS, dimensions], columns=dimensions)
    panels.chart(
        "position_curves",
        figures.dimension_curves(rows, dimensions),
        caption=f"A curve is one dimension, that is one column of the table, position by position. {reading}",
        alt="Lines: chosen dimensions of the position table by position.",
        table=lambda: table.rename_axis("position"),
    )


def show_similarity(run: Run, focus: Focus, rows: Array) -> None:
    """Dot products or distances between positions, by pair and by how far apart the two are."""
    measure = widgets.choice("positions_measure", "Measure")
    drawn, n_tokens = rows[: figures.MAX_POSITIONS], int((~run.padding).sum())
    matrix = positions.dot_products(drawn) if measure == "dot product" else positions.distances(drawn)
    offsets = positions.by_offset(matrix)
    spread = float((offsets["highest"] - offsets["lowest"]).max())
    sinusoidal = run.config.positions != "learned"
    if sinusoidal:
        st.latex(
            r"P_s \cdot P_t = \sum_i \cos\left(\omega_i (s - t)\right)"
            if measure == "dot product"
            else r"\lVert P_s - P_t \rVert^2 = 2 \sum_i \left(1 - \cos\left(\omega_i (s - t)\right)\right)"
        )
    left, right = st.columns(2, gap="medium")
    with left:
        panels.chart(
            "between_positions",
            figures.between_positions(matrix, measure),
            caption=f"The {measure} between every two of the first {len(drawn)} rows. Where stripes follow the "
            "diagonal, only the *offset* counts: how far apart two positions are. The frame marks the chosen query's "
            "and key's.",
            alt=f"Heatmap of the {measure} between positions.",
            overlay=frame_cell(
                "between_positions",
                focus,
                rows=Cells.of("query", range(min(n_tokens, len(drawn)))),
                columns=Cells.of("key", range(min(n_tokens, len(drawn)))),
                label="The query's position, in its row, and the key's, in its column. Arrow keys move them.",
            ),
            table=lambda: pd.DataFrame(matrix).rename_axis("position"),
        )
    with right:
        unpaired = (
            " An odd d_model leaves the last sine without its cosine. The formula is then only nearly true."
            if sinusoidal and rows.shape[1] % 2
            else ""
        )
        panels.chart(
            "by_offset",
            figures.by_offset(offsets, measure),
            caption="The same numbers by offset. The line is their mean; the band goes from the lowest to the highest. "
            f"Pairs of equal offset differ by up to {spread:.2g}.{unpaired}",
            alt=f"Line: mean {measure} by how far apart two positions are.",
            table=lambda: offsets,
        )


def show_exponents(run: Run, n_rows: int) -> None:
    """The paper's table beside tutorial B's, whose exponent is doubled, and the wavelengths of both."""
    d_model, max_len = run.config.d_model, run.config.max_len
    standard, doubled = (sinusoids(n_rows, d_model, doubled=twice).numpy() for twice in (False, True))
    at = f"at d_model {d_model}."
    tables: dict[str, tuple[Positions, Array, str]] = {
        "standard": ("sinusoidal", standard, f"The standard table (Vaswani et al. 2017, section 3.5) {at}"),
        "doubled": (
            "sinusoidal-doubled",
            doubled,
            f"The table of tutorial B · Encoder Block {at} Its exponent counts twice: each frequency is squared.",
        ),
    }
    for column, (name, (kind, rows, caption)) in zip(st.columns(2, gap="medium"), tables.items(), strict=True):
        with column:
            st.latex(positions.formula(kind))
            figure = figures.table_heatmap(rows, height=320)
            panels.chart(f"table_{name}", figure, caption=caption, alt=f"Heatmap of the {name} position table.")
    waves, waves_doubled = (wavelengths(d_model, doubled=twice).numpy() for twice in (False, True))
    turning, turning_doubled = (int((lengths <= max_len).sum()) for lengths in (waves, waves_doubled))
    apart = float(np.abs(standard - doubled)[: figures.MAX_POSITIONS].max())
    dimensions = pd.Index(2 * np.arange(waves.size), name="dimension")
    table = pd.DataFrame({"standard": waves, "doubled exponent": waves_doubled}, dimensions)
    panels.chart(
        "wavelengths",
        figures.wavelengths(waves, waves_doubled, max_len),
        caption="A pair of dimensions, a sine and a cosine, repeats after its *wavelength* in positions. "
        f"Wavelengths grow from {_round_length(waves[0])} to {_round_length(waves[-1])} (standard) or "
        f"{_round_length(waves_doubled[-1])} (doubled exponent). Of {waves.size} pairs, {turning} complete a turn "
        f"within max_len = {max_len:,}; with the doubled exponent {turning_doubled} do. Slower pairs hardly tell "
        f"neighbouring positions apart. The first {min(n_rows, figures.MAX_POSITIONS)} rows of the tables differ by up "
        f"to {apart:.4g}.",
        alt="Lines: wavelength of each pair of dimensions, standard and doubled exponent, on a logarithmic axis.",
        table=lambda: table,
    )


def _round_length(wavelength: SupportsFloat) -> str:
    """A wavelength as a whole number from 100 on, with three digits below."""
    return f"{float(wavelength):,.0f}" if float(wavelength) >= 100 else f"{float(wavelength):.3g}"
