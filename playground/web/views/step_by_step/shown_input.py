"""What goes through the layer: the visitor's sentence, or on tutorial B's path the small input of its chapter."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from playground.analysis.walkthrough import Chapter, tutorial_b
from playground.limits import MAX_TOKENS
from playground.tutorials.table import SHORT_TITLES
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup, current_value
from playground.web.choices.shortcuts import has_preset
from playground.web.session.caches import RunKey, TextKey
from playground.web.shared import panels

PRESET = "tutorial-b"


def choose_input(words: DeltaGenerator, number: DeltaGenerator) -> RunKey:
    """The run to show, after a description of its input; where there can be none, the page says why and ends.

    `words` takes the choice of an input, where there is one, and `number` the choice of one of its sentences.
    """
    setup = current_setup()
    if current_value("step_path") == "as tutorial B":
        if has_preset(setup, PRESET):
            with words:
                choice = widgets.choice("step_input", "Input")
            if choice == "the tutorial's":
                return _choose_sentence(setup, number)
        else:
            st.caption(
                f"With the preset of tutorial {SHORT_TITLES['B']}, each chapter has the tutorial's own small input."
            )
    panels.current_run()
    return setup.run_key


def _choose_sentence(setup: Setup, place: DeltaGenerator) -> RunKey:
    """The run of a sentence of the tutorial's input for the chapter that the chosen stage belongs to."""
    stage = current_value("step_stage")
    chapter = next(chapter for chapter in tutorial_b(setup.config) if stage in chapter.stages)
    with place:
        sentence = widgets.whole("step_sentence", "Sentence", high=chapter.shape[0])
    _describe(chapter)
    if setup.fitted_changes.applied:
        st.caption("The tutorial's own input is computed without your changes.")
    text = TextKey("word", 0, MAX_TOKENS, chapter.sentences)
    return RunKey(text, sentence - 1, setup.weights, chapter.own_config(setup.config), setup["seed"], setup["causal"])


def _describe(chapter: Chapter) -> None:
    n_sentences, n_tokens, n_features = chapter.shape
    sentences = f"{n_sentences} sentences" if n_sentences > 1 else "1 sentence"
    heads = f"{chapter.n_heads} heads" if chapter.n_heads > 1 else "1 head"
    maps = " Queries, keys and values are maps of these vectors; the next chapter explains them."
    st.caption(
        f"The input that tutorial {SHORT_TITLES['B']} gives “{chapter.title}” has the shape **{chapter.shape}**: "
        f"{sentences} of {n_tokens} tokens with {n_features} features each, for {heads}. Its vectors x0, x1, … "
        f"are standard normal numbers drawn from the sidebar's seed.{maps * (chapter.title == 'Attention')}"
    )
