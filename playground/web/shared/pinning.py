"""The pinned settings on a page: the line that pins them, their setup, their run, and what they are called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from playground.charts.names import escape_markdown
from playground.errors import PlaygroundError
from playground.pages import page_at
from playground.views.scenes import MOST_NAMED, Difference, list_differences, name_sides
from playground.web.choices import setup, shortcuts
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup, pinned_setup
from playground.web.session import caches
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import as_one_element


@dataclass(frozen=True)
class PinnedSide:
    """What is pinned, and how charts call the two sides: by what differs."""

    setup: Setup
    name: str
    now: str
    """The present side's name."""


def pinned_side() -> PinnedSide | None:
    """What is pinned beside the present settings; None where nothing is."""
    setup = pinned_setup()
    if setup is None:
        return None
    return PinnedSide(setup, *name_sides(list_differences(setup.values, current_setup().values), MOST_NAMED))


def pinned_side_without_changes() -> PinnedSide | None:
    """The pinned side for a page that shows models without changes; None too where both are the same but for them."""
    side, now = pinned_side(), current_setup().values
    if side is None or (
        side.setup["do"] != now["do"] and not list_differences({**side.setup.values, "do": now["do"]}, now)
    ):
        return None
    return side


KEY = "pin_line"

_HOW = "Keeps all settings of the sidebar as they are. Then change any of them: the charts show both, before and after."


def start_comparison(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Pin the one side of a ready comparison and set the sidebar to the other; for callbacks."""
    shortcuts.keep_replaced()
    setup.pin(before)
    shortcuts.choose_values(after)


@as_one_element
def draw_pin_line(*, links_to_compare: bool = True) -> None:
    """One button that pins the present settings; once they are pinned, what differs from them and what can be done."""
    side = pinned_side()
    with st.container(key=KEY, horizontal=True, vertical_alignment="center", gap="small"):
        if side is None:
            _draw_button("Pin this, to compare", "pin", ":material/push_pin:", _pin, _HOW)
            return
        differences = list_differences(side.setup.values, current_setup().values)
        told = describe_change(differences)
        if page_at(st.session_state[OPEN_PAGE]).unchanged and pinned_side_without_changes() is None:
            told += " Changes do not count on this page, so both are the same here."
        st.markdown(told, width="content")
        _draw_button("Swap", "pin_swap", ":material/swap_horiz:", shortcuts.swap_pinned, "The pinned settings go into "
                     "the sidebar, and those of the sidebar are pinned.", disabled=not differences)  # fmt: skip
        _draw_button("Pin again", "pin", ":material/push_pin:", _pin, "Pins the present settings instead.",
                     disabled=not differences)  # fmt: skip
        _draw_button("Unpin", "unpin", ":material/close:", setup.unpin, "Pages show the present settings alone.")
        if links_to_compare:
            st.page_link(page_named("compare"), label="Compare in full", icon=":material/compare_arrows:")


def _draw_button(
    label: str, key: str, icon: str, on_click: Callable[[], None], help_text: str, *, disabled: bool = False
) -> None:
    st.button(label, key=key, icon=icon, type="tertiary", on_click=on_click, help=help_text, disabled=disabled)


def describe_change(differences: Sequence[Difference]) -> str:
    """Which two settings are compared, and that these are all of their differences."""
    if not differences:
        return ":material/push_pin: **Pinned.** Now change any setting: the charts show both."
    pinned, now = map(escape_markdown, name_sides(differences))
    return f":material/push_pin: **Compared:** {pinned} and {now}. All else is the same."


@as_one_element
def explain_pinned_run() -> None:
    """Say why there is no pinned run, and so the present one alone."""
    side = pinned_side()
    if side is None:
        return
    if not side.setup.text.sentences:
        st.info("The pinned settings have no text, so there is no run of theirs to show.")
        return
    try:
        caches.run_sentence(side.setup.run_key)
    except PlaygroundError as error:
        st.info(f"The pinned settings cannot be run: {escape_markdown(error)}")
        return


def _pin() -> None:
    shortcuts.keep_replaced()
    setup.pin(current_setup().state.asked)
