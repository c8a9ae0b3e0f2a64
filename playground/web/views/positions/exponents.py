"""The exponent of the sinusoids once, as in the paper, and twice, as in tutorial B."""

from typing import SupportsFloat

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import positions
from playground.config import Positions
from playground.figures import positions as figures
from playground.model.encoder import sinusoids, wavelengths
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.shared import panels
from playground.web.shared.pinning import pinned_side


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
        f"Wavelengths grow from {round_length(waves[0])} to {round_length(waves[-1])} (standard) or "
        f"{round_length(waves_doubled[-1])} (doubled exponent). Of {waves.size} pairs, {turning} complete a turn "
        f"within max_len = {max_len:,}; with the doubled exponent {turning_doubled} do. Slower pairs hardly tell "
        f"neighbouring positions apart. The first {min(n_rows, figures.MAX_POSITIONS)} rows of the tables differ by up "
        f"to {apart:.4g}.",
        alt="Lines: wavelength of each pair of dimensions, standard and doubled exponent, on a logarithmic axis.",
        table=lambda: table,
    )
    side = pinned_side()
    if side is not None:
        st.caption(
            f"Both tables are fixed by their formulas, so there is no before and after here; only d_model and max_len "
            f"change them. The pinned settings have d_model {side.setup.config.d_model} and max_len "
            f"{side.setup.config.max_len:,}."
        )


def round_length(wavelength: SupportsFloat) -> str:
    """A wavelength as a whole number from 100 on, with three digits below."""
    return f"{float(wavelength):,.0f}" if float(wavelength) >= 100 else f"{float(wavelength):.3g}"
