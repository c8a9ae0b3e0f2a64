"""Looks at a position table itself: single dimensions, likeness of positions, and the paper's beside tutorial B's."""

from typing import SupportsFloat

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import positions
from playground.figures import positions as figures
from playground.model.positions import sinusoids, wavelengths
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.shared import panels


def show_curves(run: Run, rows: Array) -> None:
    """Three dimensions along the positions."""
    kind, last = run.config.positions, rows.shape[1] - 1
    with st.container(horizontal=True):
        chosen = [widgets.whole(f"positions_curve_{i}", f"dimension, curve {i}", high=last) for i in (1, 2, 3)]
    dimensions = list(dict.fromkeys(chosen))
    shown = "sinusoidal" if kind == "none" else kind
    t = int((~run.padding).sum()) - 1
    st.latex(positions.formula(shown))
    st.latex(positions.formula_with_numbers(shown, rows, t, chosen[1]))
    if shown == "learned":
        reading = "A learned table has no wavelengths; what regularity there is, training has put there."
    else:
        waves = wavelengths(rows.shape[1], doubled=shown == "sinusoidal-doubled")
        found = ", ".join(f"{_readable(waves[dimension // 2])} (dimension {dimension})" for dimension in dimensions)
        reading = f"Each repeats after its wavelength, in positions: {found}."
    panels.chart(
        "position_curves",
        figures.dimension_curves(rows, dimensions),
        caption=f"One number of every row of the table, position by position. {reading}",
        alt="Lines: chosen dimensions of the position table by position.",
    )
    panels.numbers(
        "position_curves",
        lambda: pd.DataFrame(rows[: figures.MAX_POSITIONS, dimensions], columns=dimensions).rename_axis("position"),
    )


def show_similarity(run: Run, rows: Array) -> None:
    """Which positions are alike."""
    measure = widgets.choice("positions_measure", "Measure")
    drawn = rows[: figures.MAX_POSITIONS]
    matrix = positions.dot_products(drawn) if measure == "dot product" else positions.distances(drawn)
    offsets = positions.by_offset(matrix)
    spread = float((offsets["highest"] - offsets["lowest"]).max())
    if run.config.positions != "learned":
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
            caption=f"The {measure} of each two of the first {len(drawn)} rows. Stripes along the diagonal mean that "
            "only the way from one position to the other counts.",
            alt=f"Heatmap of the {measure} between positions.",
        )
        panels.numbers("between_positions", lambda: pd.DataFrame(matrix).rename_axis("position"))
    with right:
        odd = run.config.positions != "learned" and rows.shape[1] % 2 == 1
        unpaired = (
            " An odd d_model leaves the last sine without its cosine, so here the formula is only nearly true."
            if odd
            else ""
        )
        panels.chart(
            "by_offset",
            figures.by_offset(offsets, measure),
            caption=f"The same by how far apart the two are: the mean, with a band from the lowest to the highest. "
            f"Pairs equally far apart differ by up to {spread:.2g}.{unpaired}",
            alt=f"Line: mean {measure} by how far apart two positions are.",
        )
        panels.numbers("by_offset", lambda: offsets)


def show_exponents(run: Run, n_rows: int) -> None:
    """The paper's table beside tutorial B's."""
    d_model, max_len = run.config.d_model, run.config.max_len
    standard, doubled = (sinusoids(n_rows, d_model, doubled=twice).numpy() for twice in (False, True))
    left, right = st.columns(2, gap="medium")
    with left:
        st.latex(positions.formula("sinusoidal"))
        panels.chart(
            "table_standard",
            figures.table_heatmap(standard, height=320),
            caption=f"The standard table (Vaswani et al. 2017, section 3.5), at d_model {d_model}.",
            alt="Heatmap of the standard position table.",
        )
    with right:
        st.latex(positions.formula("sinusoidal-doubled"))
        panels.chart(
            "table_doubled",
            figures.table_heatmap(doubled, height=320),
            caption=f"Tutorial B's, whose exponent counts twice, at d_model {d_model}.",
            alt="Heatmap of the position table with the doubled exponent.",
        )
    waves, waves_doubled = (wavelengths(d_model, doubled=twice).numpy() for twice in (False, True))
    turning, turning_doubled = (int((lengths <= max_len).sum()) for lengths in (waves, waves_doubled))
    apart = float(np.abs(standard - doubled)[: figures.MAX_POSITIONS].max())
    panels.chart(
        "wavelengths",
        figures.wavelengths(waves, waves_doubled, max_len),
        caption=f"After how many positions each pair repeats: from {_readable(waves[0])} to {_readable(waves[-1])} "
        f"(standard) or {_readable(waves_doubled[-1])} (doubled: each frequency is squared). Of {waves.size} pairs, "
        f"{turning} turn fully within max_len, doubled {turning_doubled}; slower ones hardly tell neighbours apart. "
        f"In the first {min(n_rows, figures.MAX_POSITIONS)} rows the tables differ by up to {apart:.4g}.",
        alt="Lines: wavelength of each pair of dimensions, standard and doubled exponent, on a logarithmic axis.",
    )
    dimensions = pd.Index(2 * np.arange(waves.size), name="dimension")
    table = {"standard": waves, "doubled exponent": waves_doubled}
    panels.numbers("wavelengths", lambda: pd.DataFrame(table, index=dimensions))


def _readable(wavelength: SupportsFloat) -> str:
    """A wavelength with three digits, or as a whole number."""
    return f"{float(wavelength):,.0f}" if float(wavelength) >= 100 else f"{float(wavelength):.3g}"
