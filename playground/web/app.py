"""The main script: it settles the visitor's choices, draws the sidebar, and runs the page."""

import streamlit as st

from playground.web.choices.open_page import correct_address, open_page
from playground.web.choices.setup import current_value
from playground.web.components import apply_page_style, mark_open_group, scroll_as_requested, send_text_before_page
from playground.web.shared import saving
from playground.web.shared.navigation import draw_lesson_line, pages_by_group, place_in_menu
from playground.web.shared.panels import draw_in_turn, run_in_turn, warn_before_reload
from playground.web.sidebar import controls
from playground.web.views.exports import show_export
from playground.web.views.results import draw_code

with run_in_turn():
    menu = pages_by_group()
    page = st.navigation(menu, position="top")
    st.set_page_config(page_title=f"{page.title} · Transformer Encoder Playground", page_icon="🧭", layout="wide")
    mark_open_group(place_in_menu(page.url_path))
    open_page(page.url_path)  # after the navigation, so that a corrected link stays on its page
    is_presented = current_value("present")
    apply_page_style(is_presented=is_presented)
    with st.sidebar:
        draw_expanders = controls.draw(show_export)
    phone = st.container(key="phone_controls", gap="xsmall")
    draw_lesson_line(draw_code)
    saving.begin_page()
    try:
        draw_in_turn(page.url_path, page.run)
    finally:
        draw_expanders()
        saving.end_page()
    with phone:
        (controls.draw_presenter_menu if is_presented else controls.draw_phone_controls)(menu, page)
    warn_before_reload()
    correct_address()
    send_text_before_page()
    scroll_as_requested()
