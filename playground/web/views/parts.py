"""What the page Parts has beside its view: the button that puts the chosen encoder into the sidebar."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from playground.accounting.readable import duration
from playground.language.family import change
from playground.web.choices.english import choose_english
from playground.web.session.caches import APP
from playground.web.session.experiments import learning_seconds
from playground.web.shared.renderer import WIDGETS
from playground.words import say


def draw_open(settings: Mapping[str, Any]) -> None:
    """Draw the button that puts an encoder into the sidebar, where one that does not come along is trained."""
    opens, spec = partial(choose_english, **settings), change(**settings)
    is_there = APP.find_english(spec) is not None
    label = say("parts", "open") if is_there else say("parts", "train", time=duration(learning_seconds(spec)))
    if st.button(label, key="parts_open", on_click=opens, help=say("parts", "open.help")):
        st.rerun()


WIDGETS["open_encoder"] = draw_open
