"""One head's attention while the network learns, at the steps at which it was saved."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from playground.figures.attention import WeightScale, head_heatmap
from playground.figures.theme import Array, token_table
from playground.link.params import LAST_MOMENT
from playground.training.after.run_state import TrainingState
from playground.training.evaluation import Snapshot, attention_mask
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.session.experiments import Experiment
from playground.web.shared import panels
from playground.web.shared.saving import Saved

_CHOSEN = "_training_head_chosen"
"""Session key that is there once the visitor has chosen a layer or a head by hand."""


def attention_over_time(experiment: Experiment[TrainingState]) -> None:
    """Draw one head's attention at one saved step."""
    run = experiment.state
    snapshots = [] if run is None else list(run.history.snapshots)
    if run is None or not run.history.evaluations:
        return
    st.header("What does a head look at, as it learns?")
    if not snapshots:
        st.caption(
            "Attention of this size is too large to be kept while it learns: with shorter sequences, fewer layers or "
            "fewer heads it is shown here."
        )
        return
    names = list(snapshots[0].patterns)
    name = _pick_attention(names) if len(names) > 1 else names[0]
    n_layers, n_heads = snapshots[0].patterns[name].shape[:2]
    most = None if experiment.in_progress else most_changed_head(snapshots, name)
    if most is not None and _CHOSEN not in st.session_state and _chosen_head() == (0, 0) and most != (0, 0):
        st.session_state["training_layer"], st.session_state["training_head"] = most
    with st.container(horizontal=True):
        moment = widgets.whole("training_moment", "moment: from 0, before training, to the end", high=LAST_MOMENT)
        layer = widgets.whole("training_layer", "layer", high=n_layers - 1, on_change=_note_choice)
        head = widgets.whole("training_head", "head", high=n_heads - 1, on_change=_note_choice)
    step = round(run.recipe.steps * moment / LAST_MOMENT)
    reached = [snapshot for snapshot in snapshots if snapshot.step <= step]
    _pattern(run, reached[-1], name, (layer, head), chosen_step=step, is_most=(layer, head) == most)


def most_changed_head(snapshots: Sequence[Snapshot], name: str) -> tuple[int, int] | None:
    """Layer and head whose attention differs most between the first snapshot and the last; None where there is one.

    The difference is Σ |change| of a row's weights, as a mean over rows.
    """
    if len(snapshots) < 2:
        return None
    changes = np.abs(snapshots[-1].patterns[name] - snapshots[0].patterns[name]).sum(axis=-1).mean(axis=-1)  # (L, H)
    layer, head = np.unravel_index(int(changes.argmax()), changes.shape)
    return int(layer), int(head)


def _chosen_head() -> tuple[int, int]:
    return current_value("training_layer"), current_value("training_head")


def _note_choice() -> None:
    st.session_state[_CHOSEN] = True


def _pick_attention(names: list[str]) -> str:
    if current_value("training_attention") not in names:
        st.session_state["training_attention"] = names[0]
    return str(
        st.segmented_control(
            "Which attention", names, default=names[0], required=True, key="training_attention", bind="query-params"
        )
    )


def _pattern(
    run: TrainingState, shown: Snapshot, name: str, layer_head: tuple[int, int], *, chosen_step: int, is_most: bool
) -> None:
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
    if is_most:
        later += " Of all heads, this one's attention has changed most since before training."
    panels.chart(
        "training_pattern",
        head_heatmap(pattern, queries, visible, keys=keys, scale=WeightScale(square_root=False)),
        caption=f"**Layer {layer}, head {head}, {when}.** Each row is one token of the first validation "
        f"sequence asking; its weights add up to 1. {describe_largest(pattern, visible)}{later}",
        alt=f"Attention of layer {layer}, head {head}, {when}.",
        table=lambda: token_table(pattern, queries, keys),
        saved=Saved(f"training_attention_step{shown.step}_layer{layer}_head{head}"),
    )


def describe_largest(pattern: Array, visible: NDArray[np.bool_]) -> str:
    """The largest weight (Tq, Tk) of all rows that can choose; under a causal mask the first can not, and gives 1."""
    n_keys = visible.sum(axis=1)
    can_choose = n_keys > 1
    if not can_choose.any():
        return "Each of them sees one token alone, and so gives it 1.00."
    alone = "A row that sees one token alone gives it 1.00. Of all other rows, the" if (n_keys == 1).any() else "The"
    return (
        f"{alone} largest weight is {pattern[can_choose].max():.2f}; spread evenly over {n_keys.max()} tokens, each "
        f"would get {1 / n_keys.max():.2f}."
    )
