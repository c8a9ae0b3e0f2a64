"""The sidebar's part for a network that was trained in this session."""

import streamlit as st

from playground.charts.markdown import quote_token
from playground.training.kept_run import describe_origin
from playground.training.tasks.task import BOS, EOS, SPECIALS
from playground.training.trained_network import TrainedNetwork
from playground.web.choices import open_page, widgets
from playground.web.choices.setup import Setup
from playground.web.choices.shortcuts import use_example_text
from playground.web.session import own_models
from playground.web.shared.navigation import page_named

EXAMPLE = "trained_example"
"""Key of the button that sets an example of the task as text."""

_LISTED = 30
"""Tokens of a vocabulary that are listed; a longer one is counted."""


def draw_trained_panel(setup: Setup) -> None:
    """Draw the panel, or a link to the Training page where nothing was trained yet."""
    run = own_models.shown_run(setup["run"])
    if run is None:
        st.caption(":orange-badge[random weights] Nothing was trained in this session yet.")
        if not open_page.is_training_page():
            st.page_link(
                page_named("training"),
                label=open_page.training_button_label(),
                icon=":material/model_training:",
                query_params=open_page.parameters_from_link() or None,
            )
        return
    trained, results = run.network, run.network.results
    st.caption(
        f"**{trained.task.title}**, trained for {results.kept_step:,} steps: {results.validation_accuracy:.1%} of the "
        f"validation set is right; a simple rule reaches {results.baseline:.1%}. {describe_origin(run, setup['run'])} "
        "Moving a control takes its shape with that change, untrained."
    )
    if trained.has_initial:
        widgets.switch("untrained")
    else:
        st.caption(
            "Its file is from before a change in how random weights are drawn: what it began with can't be drawn "
            "again, and a new run from its seed ends at another loss."
        )
    if setup.text.sentences:
        _vocabulary(setup, trained)


def _vocabulary(setup: Setup, trained: TrainedNetwork) -> None:
    """Draw which tokens of the sentence are unknown to the network, and a button for a text that it knows."""
    unknown = setup.batch.unknown[setup.sentence]
    if all(unknown):
        st.caption(f":orange-badge[not a token known] {_known_tokens(trained)} Of this sentence, it reads [UNK] only.")
    elif any(unknown):
        st.caption(
            f"{sum(unknown)} of {len(unknown)} tokens are unknown to it and read as [UNK]. {_known_tokens(trained)}"
        )
    if setup["text"] != trained.example:
        label, icon = "Use an example of the task", ":material/edit_note:"
        st.button(label, key=EXAMPLE, icon=icon, on_click=use_example_text, width="stretch")


def _known_tokens(trained: TrainedNetwork) -> str:
    tokens = map(trained.tokenizer.id_to_token, range(len(SPECIALS), trained.tokenizer.vocab_size))
    symbols = [token for token in tokens if token not in {BOS, EOS}]
    if len(symbols) > _LISTED:
        return f"It knows {len(symbols)} characters."
    return f"It knows {' '.join(map(quote_token, symbols))}."
