"""The way of one sentence through the encoder: tokens, shapes, work, and a door to every page."""

import streamlit as st

from playground.accounting import count_flops, count_parameters
from playground.accounting.stages import stages
from playground.analysis import streams
from playground.figures import attention, norms, parameters
from playground.model import Encoder
from playground.model.blocks import EncoderBlock
from playground.web.components.data_flow import draw_data_flow
from playground.web.components.token_chips import draw_token_chips
from playground.web.shared import panels
from playground.web.shared.navigation import pages
from playground.web.views import overview

panels.heading("What happens to a sentence in an encoder?")
door = st.session_state.pop("_door", None)
if door:
    st.switch_page(pages()[door], query_params={})
run = panels.current_run()
panels.run_line(run)
config, n_tokens = run.config, len(run.tokens)
draw_token_chips(overview.chips(run))
st.caption("Each chip is a token with its id in the vocabulary; dashed ones were added, red ones are unknown words.")

draw_data_flow(stages(config, n_tokens), config.n_layers, overview.open_stage)
st.caption(
    f"Shapes are (tokens, features), for this sentence. In all: **{count_parameters(config).total:,} parameters**, "
    f"**{count_flops(config, n_tokens).total / 1e6:,.1f} million floating-point operations**, "
    f"**{1000 * run.seconds:.0f} ms**. Press a box to open it up."
)

overview.every_shape(config)

for column, (page, figure, caption, alt) in zip(
    st.columns(3, gap="medium"),
    [
        (
            "attention",
            attention.head_grid(run.patterns(), labels=False),
            "Every head's attention: rows are layers, columns heads.",
            "Attention of every head as thumbnails.",
        ),
        (
            "norms",
            norms.norms_by_layer(streams.lengths(run)),
            "How long the vectors are, block by block.",
            "Mean L2 norm by depth.",
        ),
        (
            "parameters",
            parameters.breakdown_bar(count_parameters(config), "parameters"),
            "Where the parameters sit.",
            "Parameters by component.",
        ),
    ],
    strict=True,
):
    with column:
        panels.chart(f"overview_{page}", figure.update_layout(height=300), caption=caption, alt=alt)
        st.page_link(pages()[page], label=f"Open {page}", icon=":material/arrow_forward:")
panels.code_behind("overview", Encoder, EncoderBlock)
