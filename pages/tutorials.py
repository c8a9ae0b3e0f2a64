"""One of the five tutorials, the student's own: what is different in it; and all five side by side."""

import streamlit as st

from playground.link.query import needed_panels
from playground.tutorials import comparison
from playground.tutorials.demonstrations import TUTORIALS, Topic
from playground.views.tutorials import show_tutorials, tutorials_scene
from playground.web.choices.setup import current_value
from playground.web.choices.shortcuts import apply_preset, use_task_defaults
from playground.web.components import request_scroll
from playground.web.shared import panels
from playground.web.shared.navigation import page_named
from playground.web.shared.renderer import Live, draw_view


def draw_topic(topic: Topic, key: str, preset: str) -> None:
    """Draw a topic's sentence, and a button that opens its page with the preset and the topic's settings."""
    page = page_named(topic.page)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(topic.text, width="stretch")
        if st.button(page.title, key=key, on_click=choose_topic, args=(topic, preset), width=110):
            st.switch_page(page, query_params={})


def choose_topic(topic: Topic, preset: str) -> None:
    """Set the sidebar to the preset, and the topic's settings; the mask is causal only if the topic asks for it."""
    trains = "training_task" in topic.settings
    settings = {**needed_panels({*topic.settings, topic.target}), **topic.settings}
    apply_preset(preset, small=trains, **{"causal": False, **settings})
    if trains:
        use_task_defaults()
    if topic.target is not None:
        request_scroll(topic.target)


panels.draw_heading("What is different in the tutorial that I follow?")
draw_view("tutorials", show_tutorials, tutorials_scene, (), Live({"tutorial_topic": draw_topic}))
flaws = TUTORIALS[current_value("tutorials_letter")].flaws
shown = [each.demonstration for each in flaws if each.demonstration]
panels.code_behind("tutorials", *shown, comparison.build, comparison.trace_of)
