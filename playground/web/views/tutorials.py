"""The page Tutorials: its caches, and the buttons that open a topic's page."""

import streamlit as st

from playground.charts.scene import Scene
from playground.link.query import needed_panels
from playground.tutorials import comparison
from playground.tutorials.tutorial_texts import Topic
from playground.views.tutorials import FiveTutorials, read_five, trace_tutorials
from playground.web.choices.setup import current_setup
from playground.web.choices.shortcuts import apply_preset, use_task_defaults
from playground.web.components.without_picture import request_scroll
from playground.web.shared.navigation import page_named
from playground.web.shared.renderer import WIDGETS

_trace_tutorials = st.cache_resource(max_entries=4, show_spinner=False)(trace_tutorials)
_find_causes = st.cache_resource(max_entries=20, show_spinner=False)(comparison.causes)


def tutorials_scene() -> Scene[FiveTutorials]:
    """Return the five, with weights from the sidebar's seed."""
    return read_five(current_setup()["seed"], _trace_tutorials, _find_causes)


def draw_topic(topic: Topic, key: str, preset: str) -> None:
    """Draw a topic's sentence, and a button that opens its page with the preset and the topic's settings."""
    page = page_named(topic.page)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(topic.text, width="stretch")
        if st.button(page.title, key=key, on_click=_set_topic, args=(topic, preset), width=110):
            st.switch_page(page, query_params={})


def _set_topic(topic: Topic, preset: str) -> None:
    """Set the sidebar to the preset, and the topic's settings; the mask is causal only if the topic asks for it."""
    panels = needed_panels({*topic.settings, topic.target})
    trains = "training_task" in topic.settings
    apply_preset(preset, small=trains, **{"causal": False, **panels, **topic.settings})
    if trains:
        use_task_defaults()
    if topic.target is not None:
        request_scroll(topic.target)


WIDGETS |= {"tutorial_topic": draw_topic}
