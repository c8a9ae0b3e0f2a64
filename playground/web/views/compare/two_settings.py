"""The Compare page: two full settings side by side, in the order in which they part."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import streamlit as st

from playground.accounting import readable
from playground.accounting.costs import ModelCosts, describe_costs
from playground.analysis import streams
from playground.analysis.comparison import (
    describe_growth_change,
    describe_parting,
    describe_shared,
    list_unequal_points,
)
from playground.charts.markdown import escape_markdown
from playground.runs.encoder_run import Run
from playground.web.choices.setup import current_setup
from playground.web.session.caches import TwoRuns
from playground.web.shared import panels
from playground.web.shared.focus_line import show_focus
from playground.web.shared.model_costs import model_costs, pinned_costs
from playground.web.shared.page_end import fragment
from playground.web.shared.pinned_charts import draw_both_heads
from playground.web.shared.pinning import PinnedSide, pinned_side, run_pinned, shared_weights
from playground.web.views.compare import compare_cache
from playground.web.views.compare.compare_cache import BothLengths, Parting


@fragment
def compare_runs() -> None:
    """The head at the focus, the norms, and where the two runs part."""
    run, side = panels.shown_run(), pinned_side()
    pinned = run_pinned(side)
    if side is None or pinned is None:
        return
    st.header("One head, in both")
    draw_both_heads(run, pinned, side, show_focus(run))
    keys = TwoRuns(side.setup.run_key, current_setup().run_key)
    with panels.explain_errors():
        parting, lengths = compare_cache.find_parting(keys), compare_cache.measure_lengths(keys, side.name)
    st.header("Where do the two part?")
    _draw_parting(run, pinned, parting)
    st.header("How long are the vectors?")
    _draw_lengths(lengths, side)


def _draw_parting(run: Run, pinned: Run, parting: Parting) -> None:
    differences = parting.differences
    st.markdown(describe_parting(pinned, run, differences))
    if not differences:
        return
    lost = " Where a bar is missing, numbers are too large for 32-bit floats." * bool(np.isnan(parting.shares).any())
    unequal = " Points whose shapes differ have no bar." * bool(list_unequal_points(pinned, run))
    panels.chart(
        "compare_points",
        parting.figure,
        caption="A bar is a point of the forward pass, in the order of computation: the largest difference of two "
        "numbers there, as a share of the largest number. Grey bars, below the dotted line, are rounding. "
        f"The same numbers, bit by bit, have no height.{lost}{unequal}",
        alt="The largest difference of the two runs at each point of the forward pass.",
        table=lambda: pd.DataFrame([asdict(each) for each in differences]).rename(
            columns={"name": "point", "largest": "largest difference", "size": "largest number"}
        ),
    )


def _draw_lengths(lengths: BothLengths, side: PinnedSide) -> None:
    before, after = lengths.pinned, lengths.now
    st.markdown(escape_markdown(describe_growth_change(before, after, (side.name, side.now))))
    panels.chart(
        "compare_norms",
        lengths.figure,
        caption=f"Mean L2 norm by depth. Lines with bands: {escape_markdown(side.now)}. Dotted lines: "
        f"{escape_markdown(side.name)}.",
        alt="Mean L2 norm by depth, of both runs",
        table=lambda: streams.summary(after, before),
    )


def compare_costs() -> None:
    """Parameters and the work for the sentence, and the initial weights that both share."""
    side = pinned_side()
    before = pinned_costs(side)
    if side is None or before is None:
        return
    now = model_costs(current_setup())
    st.header("What do they cost?")
    st.markdown(escape_markdown(describe_costs(before, now)))
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_costs("parameters", before, now, side)
    with right:
        _draw_costs("FLOPs", before, now, side)
    shared = shared_weights(side)
    if shared:
        st.header("Which initial weights do they share?")
        st.markdown(
            "\n".join(f"- {sentence}" for sentence in describe_shared(shared, ("the pinned model", "this one")))
        )


def _draw_costs(unit: str, before: ModelCosts, now: ModelCosts, side: PinnedSide) -> None:
    counts = [(costs.parameters if unit == "parameters" else costs.flops) for costs in (before, now)]
    panels.chart(
        f"compare_{unit.lower()}",
        compare_cache.draw_costs((before.config, before.n_tokens), (now.config, now.n_tokens), unit),
        caption=f"{unit[0].upper()}{unit[1:]} by component: above, {escape_markdown(side.now)}; below and paler, "
        f"{escape_markdown(side.name)}.",
        alt=f"{unit} by component, of both models.",
        table=lambda: readable.comparison_table(*counts),
    )
