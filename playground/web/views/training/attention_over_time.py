"""One head's attention while the network learns, at the steps at which it was saved."""

import numpy as np
import streamlit as st

from playground.figures.attention import head_heatmap
from playground.figures.theme import token_table
from playground.training.evaluation import attention_mask
from playground.training.history import Snapshot
from playground.web.choices import widgets
from playground.web.choices.experiment_params import LAST_MOMENT
from playground.web.choices.setup import current_value
from playground.web.session.experiments import Experiment
from playground.web.shared import panels
from playground.web.views.training.training_run import TrainingRun


def attention_over_time(experiment: Experiment[TrainingRun]) -> None:
    """Draw one head's attention at one saved step."""
    run = experiment.computation
    snapshots = [] if run is None else list(run.history.snapshots)
    if run is None or not run.history.evaluations:
        return
    st.subheader("What does a head look at, as it learns?")
    if not snapshots:
        st.caption(
            "Attention of this size is too large to be kept while it learns: with shorter sequences, fewer layers or "
            "fewer heads it is shown here."
        )
        return
    names = list(snapshots[0].patterns)
    name = _pick_attention(names) if len(names) > 1 else names[0]
    n_layers, n_heads = snapshots[0].patterns[name].shape[:2]
    with st.container(horizontal=True):
        moment = widgets.whole("training_moment", "moment: from 0, before training, to the end", high=LAST_MOMENT)
        layer = widgets.whole("training_layer", "layer", high=n_layers - 1)
        head = widgets.whole("training_head", "head", high=n_heads - 1)
    step = round(run.recipe.steps * moment / LAST_MOMENT)
    reached = [snapshot for snapshot in snapshots if snapshot.step <= step]
    _pattern(run, reached[-1], name, (layer, head), chosen_step=step)


def _pick_attention(names: list[str]) -> str:
    if current_value("training_attention") not in names:
        st.session_state["training_attention"] = names[0]
    return str(
        st.segmented_control(
            "Which attention", names, default=names[0], required=True, key="training_attention", bind="query-params"
        )
    )


def _pattern(run: TrainingRun, shown: Snapshot, name: str, layer_head: tuple[int, int], *, chosen_step: int) -> None:
    layer, head = layer_head
    example = run.data.validation[slice(0, 1)]
    query_ids, key_ids = example.ids[0].tolist(), example.ids[0].tolist()
    if run.data.task.has_decoder and name != "encoder self":
        query_ids = example.decoder_ids[0].tolist()
        key_ids = query_ids if name == "decoder self" else key_ids
    queries, keys = ([run.data.vocabulary[i] for i in ids] for ids in (query_ids, key_ids))
    pattern = shown.patterns[name][layer, head]
    visible = np.ones(pattern.shape, bool)
    if name == "decoder self":
        visible = np.tril(visible)
    elif name == "self":
        mask = attention_mask(example, run.recipe)
        visible = visible if mask is None else np.broadcast_to(mask[0].numpy(), pattern.shape)
    when = "before training: random weights" if shown.step == 0 else f"after step {shown.step:,}"
    later = ""
    if run.step < chosen_step:
        later = f" Step {chosen_step:,} has not been reached; this is the last that was saved."
    elif shown.step < chosen_step:
        later = f" Of step {chosen_step:,} nothing was saved; this is the nearest saved step before."
    panels.chart(
        "training_pattern",
        head_heatmap(pattern, queries, visible, keys=keys),
        caption=f"**Layer {layer}, head {head}, {when}.** Each row is one token of the first validation "
        f"sequence asking; its weights add up to 1. The largest is {pattern.max():.2f}; evenly spread, it would be "
        f"{1 / visible.sum(1).max():.2f} in the last row.{later}",
        alt=f"Attention of layer {layer}, head {head}, {when}.",
        table=lambda: token_table(pattern, queries, keys),
    )
