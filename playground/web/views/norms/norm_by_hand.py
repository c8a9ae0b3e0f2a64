"""One norm worked out by hand with one token's numbers, and what it does in the pinned run."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import streams
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.shared import panels
from playground.web.shared.markdown import quote_token
from playground.web.shared.pinning import PinnedRun, say_other_tokens


def draw_one_norm(run: Run, token: int, pinned: PinnedRun | None) -> None:
    """One norm of the run for one token, as its formula says; beside the pinned run's norm of that name."""
    if run.config.norm == "none":
        st.info("With norm = none there is nothing to compute: every output equals its input.")
        return
    points = streams.norm_points(run)
    number = widgets.whole("norms_norm", "Norm, in the order of the computation", high=len(points) - 1)
    point = points[number]
    x, out = point.before[token], point.after[token]
    hand = streams.normalise_by_hand(x, run.config)
    st.markdown(f"`{point.name}` of {quote_token(run.tokens[token])} at position {token}")
    st.latex(streams.formula(run.config))
    st.latex(streams.formula_with_numbers(x, hand, run.config))
    scaling = "gain" if run.config.norm == "rms" else "gain and bias"
    st.caption(
        f"Is the formula what PyTorch computes? Over {x.size} features, the two differ by at most {hand.off:.1e}. "
        f"After it, the norm applies its {scaling}: out₀ = {out[0]:.4g}."
    )
    table = {"x": x, "normalised by hand": hand.normalized, f"after {scaling}": out}
    panels.numbers("norm_by_hand", lambda: pd.DataFrame(table).rename_axis("feature"))
    if pinned is not None:
        _compare_one_norm(point, token, pinned)


def _compare_one_norm(point: streams.NormPoint, token: int, pinned: PinnedRun) -> None:
    """What the norm of this name does to the same token in the pinned run, as a table with differences."""
    if not pinned.has_same_tokens:
        say_other_tokens("this token's numbers")
        return
    found = next((other for other in streams.norm_points(pinned.run) if other.name == point.name), None)
    if found is None:
        st.caption(f"**{pinned.name}:** it has no `{point.name}`.")
        return
    rows = {}
    for name, now, before in (("x", point.before, found.before), ("after the norm", point.after, found.after)):
        for measure, compute in (("mean", np.mean), ("std", np.std), ("L2 norm", np.linalg.norm)):
            numbers = [float(compute(vectors[token].astype(np.float64))) for vectors in (before, now)]
            rows[f"{measure} of {name}" if name == "x" else f"{measure} {name}"] = [*numbers, numbers[1] - numbers[0]]
    st.markdown(f"**Before and now.** {pinned.name}; the same norm and the same token.")
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["pinned", "now", "now − pinned"])
    columns = {str(name): st.column_config.NumberColumn(format="%.4g") for name in table}
    panels.show_table("norm_by_hand_pinned", table, height="content", column_config=columns)
