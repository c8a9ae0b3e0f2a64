"""Components without a picture: what the browser does on a page's behalf, or remembers for it; a page's style."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from string import Template
from typing import Any

import streamlit as st

from playground.web.components import load_component, moment

_guard = load_component("address_guard")


def write_address(key: str, data: Mapping[str, Any], on_address_change: Callable[[], None]) -> None:
    """Put texts of `parameters` into the address bar, instead of all others.

    The browser acts on each `moment` once, and on none after a later one. If it knows another `session`, which is lost,
    it sends the address that it has.
    """
    _guard(key=key, data=data, on_address_change=on_address_change)


_announcement = load_component("announcement")


def announce(key: str, sentence: str, *, container: str) -> None:
    """Tell whoever cannot see the page, politely, a sentence that is new in this place of the page.

    Where the button that led to it is gone, and the keyboard's focus with it, the `container` of this key takes that.
    """
    _announcement(key=key, data={"sentence": sentence, "container": container})


_again = load_component("ask_again")


def ask_again(key: str) -> None:
    """Have the browser run this fragment once more; drawn for as long as there is something left to do.

    What takes long is done in small parts, one a run. A visitor's choice between two of them is answered at once, and
    where nobody looks any more, nobody asks.
    """
    _again(key=key, data=moment(), on_again_change=_answer)


def _answer() -> None:
    """The run that follows is all that was asked for."""


_lost = load_component("lost_experiment")


def say_if_lost(page: str, session: str, *, has_experiment: bool, has_network: bool) -> None:
    """Say that the page's experiment is lost, if an earlier session had one in this tab and this session has none.

    The server can't know that, as it lost the session with the experiment: the tab remembers which session had one.
    With a network that came back, the curves alone are lost.
    """
    found = {"hasExperiment": has_experiment, "hasNetwork": has_network}
    _lost(key=f"{page}_lost", data={"page": page, "session": session, **found})


_order = load_component("menu_order")


def send_text_before_page() -> None:
    """Let a press on the menu wait until the text that it takes the cursor from is sent; pages open at their top."""
    _order(key="menu_order")


_warning = load_component("reload_warning")


def ask_before_reload() -> None:
    """Let the browser ask for as long as this is drawn.

    A browser may keep a page that asks out of its back/forward cache, so this is drawn only where something gets lost.
    """
    _warning(key="reload_warning")


_scroll = load_component("scroll_to")

_REQUESTED = "_scroll_requested"
"""Session key of the container that the next page to be drawn scrolls to, and `unless_seen`."""


def scroll_to(key: str, *, unless_seen: bool = False) -> None:
    """Scroll once to the container with this key; drawn in the run that follows the visitor's press alone.

    Args:
        key: the container's. It comes to the middle of the window, or with its top to the window's where it is tall.
        unless_seen: whether to stay where the container begins in the upper part of the window already.
    """
    data = {"target": key, "unlessSeen": unless_seen, "moment": moment()}
    _scroll(key=f"scroll_to_{key}", data=data)


def request_scroll(key: str, *, unless_seen: bool = False) -> None:
    """Have the page that is drawn next scroll to the container with this key, as `scroll_to`; for callbacks."""
    st.session_state[_REQUESTED] = key, unless_seen


def scroll_as_requested() -> None:
    """Scroll to where the run before this one asked to, if it did."""
    requested = st.session_state.pop(_REQUESTED, None)
    if requested is not None:
        key, unless_seen = requested
        scroll_to(key, unless_seen=unless_seen)


_STYLES = Path(__file__).parent / "page_style"
_STYLE = _STYLES / "page_style.css"
_EMBEDDED = _STYLES / "embedded.css"
_SINGLE = Template((_STYLES / "single.css").read_text())
_OPEN_GROUP = Template((_STYLES / "open_group.css").read_text())


def apply_page_style() -> None:
    """Send the style sheet to the browser, and in a frame (`?embed=true`) the frame's; neither takes room."""
    st.html(_STYLE)
    if st.context.is_embedded:  # as long as the page is open
        st.html(_EMBEDDED)


def mark_open_group(place: int) -> None:
    """Mark the fold of the menu at this place, from 1, as Streamlit marks a page of the first row that is open."""
    st.html(f"<style>{_OPEN_GROUP.substitute(place=place)}</style>")


def hide(keys: Collection[str]) -> None:
    """Hide containers, by keys of small letters, digits and underscores, and columns that hold nothing else."""
    alone = "[data-testid='stColumn']:has(> [data-testid='stVerticalBlock'] > :only-child > .st-key-{key})"
    hidden = ", ".join(f".st-key-{key}, {alone.format(key=key)}" for key in keys)
    st.html(f"<style>{hidden} {{ display: none !important; }}</style>")


def show_only(keys: Collection[str]) -> None:
    """Hide everything on the page but notices and containers of these keys: small letters, digits and underscores."""
    st.html(f"<style>{_SINGLE.substitute(shown=', '.join(['.stAlert', *(f'.st-key-{key}' for key in keys)]))}</style>")
