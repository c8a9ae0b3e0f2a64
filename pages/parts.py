"""Parts: what each part of an encoder is for."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from playground.accounting.readable import duration
from playground.language import answers, capabilities, family
from playground.views.parts import parts_scene, show_parts
from playground.web.choices.shortcuts import choose_english
from playground.web.session.caches import APP
from playground.web.session.experiments import learning_seconds
from playground.web.shared import panels
from playground.web.shared.panels import fragment
from playground.web.shared.renderer import Live, draw_view
from playground.words import say


def draw_open(settings: Mapping[str, Any], **sentence: Any) -> None:
    """Draw the button that puts an encoder into the sidebar, trained if need be."""
    opens, spec = partial(choose_english, **settings, **sentence), family.change(**settings)
    is_there = APP.find_english(spec) is not None
    label = say("parts", "open") if is_there else say("parts", "train", time=duration(learning_seconds(spec)))
    if st.button(label, key="parts_open", on_click=opens, help=say("parts", "open.help")):
        st.rerun()


@fragment
def explore_parts() -> None:
    """Draw the chosen view."""
    draw_view("parts", show_parts, parts_scene, (), Live({"open_encoder": draw_open}))


panels.draw_heading("What is each part for?")
explore_parts()
panels.code_behind("parts", family, capabilities, answers.head_costs)
