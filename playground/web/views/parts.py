"""What the page Parts has beside its view: the button that puts the chosen encoder into the sidebar."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from playground.accounting.readable import duration
from playground.language.family import change
from playground.views.parts import read_parts, show_parts
from playground.web.choices.english import choose_english
from playground.web.session.experiments import learning_seconds
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import WIDGETS, read_options, render


@fragment
def explore_parts() -> None:
    """The chosen view: one part away, or the ladder."""
    options = read_options("parts")
    scene = read_parts(options["parts_view"])
    with panels.explain_errors():
        render(show_parts(scene, options), scene)


def draw_open(settings: Mapping[str, Any]) -> None:
    """Draw the button that puts an encoder into the sidebar, where one that does not come along is trained."""
    opens, spec = partial(choose_english, **settings), change(**settings)
    is_there = services().networks.find(spec) is not None
    label = "Open this encoder" if is_there else f"Train this encoder, about {duration(learning_seconds(spec))}"
    if st.button(label, key="parts_open", on_click=opens, help="The sidebar then has it, for every page."):
        st.rerun()


WIDGETS["open_encoder"] = draw_open
