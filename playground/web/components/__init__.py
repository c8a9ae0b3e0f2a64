"""What Streamlit lacks: what the browser does on a page's behalf; a folder of files for each component."""

import secrets
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from string import Template
from typing import Any

import streamlit as st
from streamlit.components.v2.bidi_component.state import ComponentResult

_FOLDER = Path(__file__).parent

_PROCESS = secrets.token_hex(4)


def load_component(name: str) -> Callable[..., ComponentResult]:
    """Declare the component of the files `<name>.js`, `.css` and `.html` in its folder, `elements.js` in front.

    Data travels as a list's only item: in a mapping Streamlit would look for data frames, value by value.
    """
    texts = {file.suffix: file.read_text(encoding="utf-8") for file in sorted((_FOLDER / name).glob(f"{name}.*"))}
    js = (_FOLDER / "elements.js").read_text(encoding="utf-8") + texts[".js"]
    mount = st.components.v2.component(name, html=texts.get(".html"), css=texts.get(".css"), js=js)

    def draw(*, data: Any = None, **options: Any) -> ComponentResult:
        return mount(data=None if data is None else [data], **options)

    return draw


def moment() -> dict[str, str | float]:
    """Return the moment as JSON: `process`, as clocks differ, and its `time`, which only rises."""
    return {"process": _PROCESS, "time": time.monotonic()}


_REQUESTED = "_scroll_requested"
"""Session key of the container that the next page to be drawn scrolls to, and `unless_seen`."""

_guard, _announcement, _again = map(load_component, ("address_guard", "announcement", "ask_again"))
_order, _warning, _scroll = map(load_component, ("menu_order", "reload_warning", "scroll_to"))
_progress = load_component("exercise_progress")

_STYLES = Path(__file__).parent / "page_style"
_SINGLE, _OPEN_GROUP = (Template((_STYLES / f"{name}.css").read_text()) for name in ("single", "open_group"))


def write_address(key: str, data: Mapping[str, Any], on_address_change: Callable[[], None]) -> None:
    """Put texts of `parameters` into the address bar, once a `moment`; a lost `session` gets its address back."""
    _guard(key=key, data=data, on_address_change=on_address_change)


def announce(key: str, sentence: str, *, container: str) -> None:
    """Tell a screen reader a new sentence; the `container` takes the focus of a button that is gone."""
    _announcement(key=key, data={"sentence": sentence, "container": container})


def ask_again(key: str) -> None:
    """Have the browser run this fragment once more, as long as somebody looks."""
    _again(key=key, data=moment(), on_again_change=lambda: None)


def send_text_before_page() -> None:
    """Let a press on the menu wait until the typed text is sent; open pages at their top."""
    _order(key="menu_order")


def ask_before_reload() -> None:
    """Let the browser ask before a reload; drawn only if something gets lost."""
    _warning(key="reload_warning")


def keep_in_browser(key: str, progress: str, session: str, *, is_read: bool, on_read: Callable[[object], None]) -> None:
    """Store a text in the browser once that `is_read`; `on_read` takes what it had, or anything that it sends."""

    def take() -> None:
        sent = getattr(st.session_state[key], "stored", None)
        if sent is not None:
            on_read(sent)

    data = {"progress": progress, "session": session, "isRead": is_read}
    _progress(key=key, data=data, on_stored_change=take)


def scroll_to(key: str, *, unless_seen: bool = False) -> None:
    """Scroll once to a container; with `unless_seen`, only if it doesn't begin in the window's upper part."""
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
    """Mark the fold of the menu at this place, from 1, as open."""
    _style(_OPEN_GROUP.substitute(place=place))


def hide(keys: Collection[str]) -> None:
    """Hide containers, by keys of small letters, digits and underscores, and columns that hold nothing else."""
    alone = "[data-testid='stColumn']:has(> [data-testid='stVerticalBlock'] > :only-child > .st-key-{key})"
    hidden = ", ".join(f".st-key-{key}, {alone.format(key=key)}" for key in keys)
    _style(f"{hidden} {{ display: none !important; }}")


def show_only(keys: Collection[str]) -> None:
    """Hide everything on the page but notices and these containers."""
    _style(_SINGLE.substitute(shown=", ".join([".stAlert", *(f".st-key-{key}" for key in keys)])))
