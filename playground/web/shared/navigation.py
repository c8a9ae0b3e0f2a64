"""The pages, by name."""

from copy import copy
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.pages import PAGES, page_at
from playground.web.choices.setup import OPEN_PAGE

NEXT = "_next_page"
"""Session key of the page that a callback has asked for, by its name."""

_FOLDER = Path(__file__).resolve().parents[3] / "pages"


def page_named(name: str) -> StreamlitPage:
    """The page of a name, which is its path in the address; the overview's is empty. KeyError: there is none.

    It is a copy of its own, as `st.navigation` notes on a page whether it is the one to run.
    """
    return copy(_find_page(name, get_script_run_ctx(suppress_warning=True) is not None))


@cache
def _find_page(name: str, is_app_running: bool) -> StreamlitPage:
    """The page, whose file Streamlit looks for once; outside of a run of the app it makes one without a file."""
    page = PAGES[name]
    return st.Page(
        _FOLDER / f"{name.replace('-', '_')}.py",
        title=page.title,
        help=page.purpose,
        default=name == "overview",
        url_path=None if name == "overview" else name,
    )


def request_page(name: object) -> None:
    """Have the run that follows go to a page, by its name; for callbacks. What a browser sends may be anything."""
    if isinstance(name, str) and name in PAGES:
        st.session_state[NEXT] = name


def open_requested_page() -> None:
    """Go to the page that was asked for, if it is another one than the open one; its link is the session's."""
    name = st.session_state.pop(NEXT, None)
    if name is not None and name != st.session_state[OPEN_PAGE]:
        st.switch_page(page_named(name), query_params={})


def pages() -> dict[str, StreamlitPage]:
    """Every page by its name."""
    return {name: page_named(name) for name in PAGES}


def pages_by_group() -> dict[str, list[StreamlitPage]]:
    """The pages of the menu's first row, of the empty name, and of each of its folds, in the menu's order."""
    groups: dict[str, list[StreamlitPage]] = {}
    for name, page in PAGES.items():
        groups.setdefault(page.group, []).append(page_named(name))
    return groups


def current_server() -> str:
    """Where this app is, such as `https://host`, from what the browser says."""
    address = urlsplit(st.context.url or "")
    return urlunsplit((address.scheme, address.netloc, address.path.rpartition("/")[0], "", ""))


def place_in_menu(path: str) -> int:
    """Where a page, by its path in the address, or the fold that it lies in stands in the menu's first row, from 1."""
    page = page_at(path)
    items = [each.title for each in PAGES.values() if not each.group]
    items += dict.fromkeys(each.group for each in PAGES.values() if each.group)
    return items.index(page.group or page.title) + 1
