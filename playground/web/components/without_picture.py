"""Components without a picture: what the browser does on a page's behalf, or remembers for it; a page's style."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from string import Template

import streamlit as st

from playground.web.components import load_component, moment

_REQUESTED = "_scroll_requested"
"""Session key of the container that the next page to be drawn scrolls to, and `unless_seen`."""

_guard, _announcement, _again, _lost = map(
    load_component, ("address_guard", "announcement", "ask_again", "lost_experiment")
)
_order, _warning, _progress, _scroll = map(
    load_component, ("menu_order", "reload_warning", "exercise_progress", "scroll_to")
)

_STYLES = Path(__file__).parent / "page_style"
_SINGLE, _OPEN_GROUP = (Template((_STYLES / f"{name}.css").read_text()) for name in ("single", "open_group"))


def write_address(key: str, parameters: Mapping[str, list[str]]) -> None:
    """Put these texts of parameters into the address bar; an empty list takes its parameter out.

    The browser acts on each call once, and on none after a later one: calls carry their time.
    """
    _guard(key=key, data={"parameters": dict(parameters), "moment": moment()})


def announce(key: str, sentence: str, *, container: str) -> None:
    """Tell a new sentence to a screen reader; the `container` takes the focus if the button that led here is gone."""
    _announcement(key=key, data={"sentence": sentence, "container": container})


def ask_again(key: str) -> None:
    """Have the browser run this fragment once more; drawn for as long as there is something left to do.

    So a visitor's choice between two small parts of long work is answered at once, and nobody asks for more once
    the page is closed.
    """
    _again(key=key, data=moment(), on_again_change=lambda: None)


def say_if_lost(page: str, session: str, *, has_experiment: bool, has_network: bool) -> None:
    """Say that the page's experiment is lost, if an earlier session had one in this tab, which the tab remembers.

    With a network that came back, the curves alone are lost.
    """
    found = {"hasExperiment": has_experiment, "hasNetwork": has_network}
    _lost(key=f"{page}_lost", data={"page": page, "session": session, **found})


def send_text_before_page() -> None:
    """Let a press on the menu wait until the text that it takes the cursor from is sent; pages open at their top."""
    _order(key="menu_order")


def ask_before_reload() -> None:
    """Let the browser ask for as long as this is drawn: a page that asks may stay out of its back/forward cache."""
    _warning(key="reload_warning")


def keep_in_browser(key: str, progress: str, session: str, *, is_read: bool, on_read: Callable[[object], None]) -> None:
    """Store a text in the browser, joined with what is there.

    First `on_read` takes, once in this `session`, what the browser had, or anything that it sends; only when that
    `is_read` is anything stored.
    """

    def take() -> None:
        sent = getattr(st.session_state[key], "stored", None)
        if sent is not None:
            on_read(sent)

    data = {"progress": progress, "session": session, "isRead": is_read}
    _progress(key=key, data=data, on_stored_change=take)


def scroll_to(key: str, *, unless_seen: bool = False) -> None:
    """Scroll once to a container: to its middle, or its top if it is tall.

    With `unless_seen`, stay if it begins in the upper part of the window already.
    """
    data = {"target": key, "unlessSeen": unless_seen, "moment": moment()}
    _scroll(key=f"scroll_to_{key}", data=data)


def request_scroll(key: str, *, unless_seen: bool = False) -> None:
    """Have the page that is drawn next scroll, as `scroll_to`; for callbacks."""
    st.session_state[_REQUESTED] = key, unless_seen


def scroll_as_requested() -> None:
    """Scroll to where the run before this one asked to, if it did."""
    if _REQUESTED in st.session_state:
        key, unless_seen = st.session_state.pop(_REQUESTED)
        scroll_to(key, unless_seen=unless_seen)


def apply_page_style() -> None:
    """Send the style sheet to the browser, and in a frame (`?embed=true`) the frame's."""
    st.html(_STYLES / "page_style.css")
    if st.context.is_embedded:
        st.html(_STYLES / "embedded.css")


def _style(css: str) -> None:
    st.html(f"<style>{css}</style>")


def mark_open_group(place: int) -> None:
    """Mark the fold of the menu at this place, from 1, as Streamlit marks a page of the first row that is open."""
    _style(_OPEN_GROUP.substitute(place=place))


def hide(keys: Collection[str]) -> None:
    """Hide containers, by keys of small letters, digits and underscores, and columns that hold nothing else."""
    alone = "[data-testid='stColumn']:has(> [data-testid='stVerticalBlock'] > :only-child > .st-key-{key})"
    hidden = ", ".join(f".st-key-{key}, {alone.format(key=key)}" for key in keys)
    _style(f"{hidden} {{ display: none !important; }}")


def show_only(keys: Collection[str]) -> None:
    """Hide everything on the page but notices and these containers."""
    _style(_SINGLE.substitute(shown=", ".join([".stAlert", *(f".st-key-{key}" for key in keys)])))
