"""The chosen stage: its idea, its formula with this run's numbers, its picture, and dropout on request."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from playground.analysis.steps import work_out
from playground.analysis.walkthrough import Walk, order
from playground.web.choices import widgets
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.focus_line import show_focus
from playground.web.shared.page_end import fragment
from playground.web.views.step_by_step import attention_charts, block_charts
from playground.web.views.step_by_step.changed_stage import draw_stage_changes
from playground.web.views.step_by_step.pinned_stage import compare_stage
from playground.web.views.step_by_step.shown_input import choose_input
from playground.web.views.step_by_step.stage_choice import choose_path, choose_stage

STAGES: dict[str, tuple[str, Callable[[Walk], None]]] = {
    "embedding": (
        "A token becomes a vector: its row of the token table. Vectors for its position and its segment may be added.",
        block_charts.show_embedding,
    ),
    "projections": (
        "Three learned maps turn every token's vector into a query, a key and a value.",
        attention_charts.show_projections,
    ),
    "dot products": (
        "The query is compared with every key. The more they point the same way, the larger the product.",
        attention_charts.show_dot_products,
    ),
    "scale": (
        "A sum of more products spreads wider. Dividing by √d_head keeps the softmax from being all or nothing.",
        attention_charts.show_scale,
    ),
    "mask": (
        "A key that the query may not see gets the score −∞. The softmax turns it into a weight of 0.",
        attention_charts.show_mask,
    ),
    "softmax": (
        "The softmax divides powers of e by their sum. The weights lie between 0 and 1 and add up to 1. "
        "Subtracting the largest score first changes no weight; it keeps the powers small.",
        attention_charts.show_softmax,
    ),
    "weighted sum": ("Every value counts as much as the weight of its key.", attention_charts.show_weighted_sum),
    "merge": (
        "The heads' results are joined end to end. They are one vector of d_model numbers again.",
        attention_charts.show_merge,
    ),
    "output projection": (
        "One more learned map mixes the results of the heads.",
        attention_charts.show_output_projection,
    ),
    "first residual": (
        "A *residual connection* adds attention's output to the vector that entered the block.",
        partial(block_charts.show_residual, number=1),
    ),
    "first norm": (
        "A *norm* brings the vector to a common scale. Learned numbers then stretch it, and may shift it.",
        partial(block_charts.show_norm, number=1),
    ),
    "feed-forward": (
        "Each token is treated alone: out to d_ff features, through the activation, and back.",
        block_charts.show_feed_forward,
    ),
    "second residual": (
        "A second residual connection adds the feed-forward's output to the stream.",
        partial(block_charts.show_residual, number=2),
    ),
    "second norm": (
        "A second norm brings the vector to a common scale once more.",
        partial(block_charts.show_norm, number=2),
    ),
}
"""The idea of each stage, and what draws its charts."""


@fragment
def show_chosen_stage() -> None:
    """The focus, the stage, and all that they redraw."""
    path, *places = st.columns(3)
    run_key = choose_input(*places)
    with panels.explain_errors():
        run = caches.run_sentence(run_key)
    with path:
        choose_path(run.config)
    focus = show_focus(run)
    stage = choose_stage(run.config)
    with panels.explain_errors():
        walk = Walk(caches.trace_layer(run_key, focus.layer), focus.head, focus.query, focus.key)
    with st.container(key="step_computation"):
        show_stage(walk, stage)
    compare_stage(walk, stage, run_key)
    if widgets.switch("step_dropout", "Show what dropout does during training"):
        plain = run_key._replace(interventions=())
        with panels.explain_errors():
            dropped = caches.drop_layer(plain, focus.layer)
            untouched = replace(walk, layer=caches.trace_layer(plain, focus.layer))
        block_charts.show_dropout(untouched, dropped, run_key.seed)
        if run_key.interventions:
            st.caption("Dropout is shown for the model without your changes.")


def show_stage(walk: Walk, stage: str) -> None:
    """One stage: its idea, its charts, its formulas, and this run's numbers."""
    _, draw = STAGES[stage]
    st.markdown(_describe_stage(walk, stage))
    with np.errstate(invalid="ignore", over="ignore"):  # numbers beyond fp32's range are drawn as such
        draw(walk)
    step = work_out(walk, stage)
    for column, lines in zip(st.columns(2, gap="medium"), (step.formulas, step.numbers), strict=True):
        with column:
            for line in lines:
                st.latex(line)
    destination = f" {_describe_destination(walk)}" if stage == order(walk.config)[-1] else ""
    st.caption(
        "This stage was also worked out by hand, from the model's own inputs. "
        f"The largest difference from the model is {step.off:.1e}.{destination}"
    )
    draw_stage_changes(walk, stage)


def _describe_stage(walk: Walk, stage: str) -> str:
    """The idea of a stage, as this architecture has it."""
    config = walk.config
    if stage == "embedding" and not config.vocab_size:
        return "A word is a vector of random numbers, drawn from the seed and not learned. Positions may be added."
    if stage == "projections" and config.fused_qkv:
        return (
            "One learned map gives every token's query, key and value at once (`fused_qkv`). Its rows lie head by "
            "head: those of q, then of k, then of v."
        )
    if stage == "merge" and walk.merge_moves_results:
        return (
            "The heads' results lie in memory head by head. They are cut into vectors of d_model numbers as they lie "
            "(`head_merge = reshape`). Each vector then holds results of several tokens."
        )
    if stage == "output projection" and walk.merge_moves_results:
        return "One more learned map mixes the pieces of that vector, whichever heads and tokens they come from."
    if stage.endswith("residual") and not config.residual:
        return "There are no residual connections here: the sublayer's output goes on alone."
    if stage.endswith("norm") and config.norm == "none":
        return "This encoder has no norms (`norm = none`): the vector goes on as it is."
    return STAGES[stage][0]


def _describe_destination(walk: Walk) -> str:
    """Where the vector goes that leaves the layer."""
    layer, config = walk.layer.layer, walk.config
    if layer < config.n_layers - 1:
        return f"This vector leaves layer {layer} and enters layer {layer + 1}."
    end = " Only the final norm follows." if config.final_norm else " It is the encoder's output for this token."
    return f"This vector leaves the last layer.{end}"
