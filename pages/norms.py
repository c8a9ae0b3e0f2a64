"""How long the vectors are on their way through the encoder, what the norms do to them, and where they point."""

import numpy as np
import streamlit as st

from playground.analysis import norms, streams
from playground.figures import norms as figures
from playground.model import norms as model_norms
from playground.web.shared import panels
from playground.web.views import norms as norm_views

panels.heading("How large do the vectors grow?")
run = panels.current_run()
panels.run_line(run)
lengths = streams.lengths(run)
means = {part: np.nanmean(values) for part, values in lengths.items()}
panels.chart(
    "norms_by_layer",
    figures.norms_by_layer(lengths),
    caption=r"Length $\lVert x \rVert_2 = \sqrt{\sum_i x_i^2}$ of the vectors, as a mean over tokens; a band holds "
    f"their middle 80 %: where a line leaves its band, a few tokens are far longer than the rest. On average attention "
    f"adds {means['attention']:.3g} and the feed-forward {means['feed-forward']:.3g} (at most "
    f"{np.nanmax(lengths['feed-forward']):.3g}) to a stream of {means['residual']:.3g}.",
    alt="Mean L2 norm by depth of the residual stream and of what attention and feed-forward add",
)
st.markdown(streams.describe_growth(run.config, lengths, streams.l2(run.arrays["final"][~run.padding])))
panels.numbers("norms_by_layer", lambda: streams.summary(lengths))
norm_views.look_closer(run, lengths)
panels.code_behind("norms", streams.lengths, norms.normalise_by_hand, model_norms.LayerNorm)
