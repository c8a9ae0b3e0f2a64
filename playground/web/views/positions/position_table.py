"""The position table: as a heatmap, single dimensions, similarity of positions; beside that of the pinned settings."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import positions
from playground.figures import positions as figures
from playground.link.opening import Focus
from playground.model.encoder import wavelengths
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, is_random
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.page_end import as_one_element
from playground.web.views.positions import pinned_table, position_cache
from playground.web.views.positions.exponents import round_length

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
        return position_cache.position_rows(setup.weights, setup.config, setup["seed"])


@as_one_element
def show_table(run: Run) -> None:
    """The table that the model uses, and what kind of table it is; and that of the pinned settings."""
    rows, pinned = load_rows(), pinned_table.load_pinned_table()
    random = run.config.positions == "learned" and is_random(current_setup().weights)
    caution = " Its numbers are random: nothing is trained yet." if random else ""
    st.markdown(
        "Attention by itself treats the tokens as a set: it does not know their order. A position table can add the "
        "order. Its row $P_t$ is added to the vector of the token at position $t$. "
        f"{DESCRIPTIONS[run.config.positions]}{caution}"
    )
    drawn = rows[: figures.MAX_POSITIONS, : figures.MAX_DIMENSIONS]
    n, d = drawn.shape
    limit = pinned_table.common_limit(rows, pinned)
    panels.chart(
        "position_table",
        figures.table_heatmap(rows, limit=limit),
        caption="Each row is the vector of one position; each column is one of its numbers, a *dimension*. "
        f"Drawn: positions 0 to {n - 1} of {run.config.max_len}, dimensions 0 to {d - 1} of {rows.shape[1]}. "
        f"Colours end at ±{limit:.3g}; at least 99 % of the numbers lie within. "
        f"{_describe_lengths(rows)}",
        alt="Heatmap of the position table: positions in rows, dimensions in columns.",
        table=lambda: pd.DataFrame(drawn).rename_axis("position"),
    )
    if pinned is not None:
        pinned_table.draw_pinned_table(rows, pinned, limit)


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
            f"{round_length(waves[dimension // 2])} (dimension {dimension})" for dimension in dimensions
        )
        reading = f"A curve repeats after its *wavelength*. Wavelengths here, in positions: {lengths}."
    pinned = pinned_table.load_pinned_table()
    dotted = f" Dotted curves, on the same axes: {pinned.name}." if pinned else ""
    panels.chart(
        "position_curves",
        figures.dimension_curves(
            rows, dimensions, pinned.rows if pinned else None, pinned.plain_name if pinned else ""
        ),
        caption=f"A curve is one dimension, that is one column of the table, position by position. {reading}{dotted}",
        alt="Lines: chosen dimensions of the position table by position.",
        table=lambda: pinned_table.tabulate_curves(rows, dimensions, pinned),
    )


def show_similarity(run: Run, focus: Focus, rows: Array) -> None:
    """Dot products or distances between positions, by pair and by how far apart the two are."""
    measure = widgets.choice("positions_measure", "Measure")
    drawn, n_tokens = rows[: figures.MAX_POSITIONS], int((~run.padding).sum())
    compare = positions.dot_products if measure == "dot product" else positions.distances
    matrix, pinned = compare(drawn), pinned_table.load_pinned_table()
    others = compare(pinned.rows[: figures.MAX_POSITIONS]) if pinned else None
    limit = max(map(figures.colour_limit, [matrix] if others is None else [matrix, others]))
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
            figures.between_positions(matrix, measure, limit=limit),
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
        beside = positions.by_offset(others) if others is not None else None
        dotted = f" Dotted, on the same axes: the mean in {pinned.name}." if pinned else ""
        panels.chart(
            "by_offset",
            figures.by_offset(offsets, measure, beside, pinned.plain_name if pinned else ""),
            caption="The same numbers by offset. The line is their mean; the band goes from the lowest to the highest. "
            f"Pairs of equal offset differ by up to {spread:.2g}.{unpaired}{dotted}",
            alt=f"Line: mean {measure} by how far apart two positions are.",
            table=lambda: pinned_table.tabulate_offsets(offsets, beside),
        )
    if pinned is not None and others is not None:
        pinned_table.draw_pinned_similarity(matrix, others, measure, pinned, limit)
