"""The sentence that the focused one is compared with, or takes vectors from."""

from collections.abc import Sequence

import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.text.wording import join_words
from playground.web.choices import widgets
from playground.web.choices.setup import Setup


def choose_other(setup: Setup, fitting: Sequence[int]) -> int:
    """Draw the slider of the other sentence, and that sentence; returns it, counted from 0.

    `fitting` are the sentences that can be it, one at least; where the chosen one cannot, the next that can is, and the
    page says so.
    """
    sentences = setup.text.sentences
    asked = widgets.whole("whatif_other", "The other sentence", high=len(sentences)) - 1
    other = asked if asked in fitting else min(fitting, key=lambda each: ((each - asked) % len(sentences), each))
    instead = "" if other == asked else _explain(asked, fitting)
    st.caption(f"Sentence {other + 1}: “{escape_markdown(sentences[other])}”{instead}")
    return other


def _explain(asked: int, fitting: Sequence[int]) -> str:
    possible = join_words([str(each + 1) for each in fitting])
    return f", as sentence {asked + 1} cannot be it. Possible here: {possible}."
