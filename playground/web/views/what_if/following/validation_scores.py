"""What became of the right answers of a network that was trained here, over sequences that it has not learnt from."""

import streamlit as st

from playground.runs.encoder_run import Run
from playground.web.choices.setup import current_setup
from playground.web.shared import panels
from playground.web.views.what_if.measurements import task_caches

IN_EVERY_SEQUENCE = ("zero", "mean", "off")
"""Kinds of changes that name no token, and so mean the same in every sequence."""


def draw_validation_scores(run: Run) -> None:
    """The share of right answers before and after; nothing where no network was trained here."""
    weights, trained = current_setup().weights, current_setup().trained_network
    if trained is None:
        return
    if not all(each.kind in IN_EVERY_SEQUENCE for each in run.interventions):
        st.caption("Validation sequences have tokens of their own: only changes of heads and sublayers apply to them.")
        return
    with panels.explain_errors():
        n = len(task_caches.validation_sequences(weights))
        scores = task_caches.changed_scores(weights, run.interventions)
    (old, old_probability), (new, new_probability) = scores.tolist()
    whose = " The decoder is given the right beginning of each." if trained.task.has_decoder else ""
    st.markdown(
        f"Over {n:,} validation sequences, **{new:.1%}** of the answers are right, before the changes {old:.1%}. The "
        f"right answer has a probability of **{new_probability:.1%}**, before {old_probability:.1%}.{whose}"
    )
