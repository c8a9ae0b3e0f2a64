"""The line that pins the present settings, and says what differs from those that are pinned."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.pages import page_at
from playground.views.scenes import list_differences, name_sides
from playground.web.choices import setup, shortcuts
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup, pinned_setup
from playground.web.session import caches
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import as_one_element
from playground.words import say


def start_comparison(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Pin the one side of a ready comparison and set the sidebar to the other; for callbacks."""
    shortcuts.keep_replaced()
    setup.pin(before)
    shortcuts.choose_values(after)


@as_one_element
def draw_pin_line() -> None:
    """Draw one button that pins; once something is pinned, what differs, why it cannot be run, and what can be done."""
    pinned, page = pinned_setup(), page_at(st.session_state[OPEN_PAGE])
    with st.container(key="pin_line", horizontal=True, vertical_alignment="center", gap="small"):
        if pinned is None:
            _draw_button("pin", ":material/push_pin:", _pin)
            return
        differences = list_differences(pinned.values, current_setup().values)
        before, now = map(escape_markdown, name_sides(differences))
        told = say("frame", "compared", before=before, now=now) if differences else say("frame", "pinned")
        st.markdown(f":material/push_pin: {told}", width="content")
        _draw_button("pin_swap", ":material/swap_horiz:", shortcuts.swap_pinned, disabled=not differences)
        _draw_button("pin", ":material/push_pin:", _pin, disabled=not differences)
        _draw_button("unpin", ":material/close:", setup.unpin)
        if page.path != "compare":
            st.page_link(page_named("compare"), label="Compare in full", icon=":material/compare_arrows:")
    if page.runs_text and (why := _explain_failure(pinned)):
        st.info(say("frame", "pinned-fails", why=why))


def _explain_failure(pinned: Setup) -> str:
    """Why there is no pinned run, and so the present one alone; empty if there is one."""
    if not pinned.text.sentences:
        return say("frame", "pinned-fails.text")
    try:
        caches.run_sentence(pinned.run_key)
    except PlaygroundError as error:
        return escape_markdown(error)
    return ""


def _draw_button(key: str, icon: str, on_click: Callable[[], None], *, disabled: bool = False) -> None:
    label, help_text = say("frame", f"do-{key}"), say("frame", f"help-{key}")
    st.button(label, key=key, icon=icon, type="tertiary", on_click=on_click, help=help_text, disabled=disabled)


def _pin() -> None:
    shortcuts.keep_replaced()
    setup.pin(current_setup().state.asked)
