"""The front page's beginning: what the playground is for, and the short lessons."""

import streamlit as st

from playground.learn.lesson import shipped_lessons
from playground.web.views import lessons

_SHORT = 10
"""Minutes below which a lesson has a card here."""


def draw_lead() -> None:
    """What the playground is for, in one sentence."""
    with st.container(key="front_lead"):
        st.markdown(
            "See what a transformer encoder does with your sentence, test what you think it does, and train one "
            "yourself."
        )


def draw_cards() -> None:
    """A card for each short lesson."""
    lessons.draw_cards({name: each for name, each in shipped_lessons().items() if each.minutes < _SHORT}, "cards")
