"""Keeps the address bar true to the widgets.

Streamlit writes every bound widget into the address. Three things it misses: the focus, the pinned settings and the
tour, which are bound to none; while a slider is moved fast, an older run's correction can reach the browser after a
newer value; and a widget whose bounds changed leaves the address although its value stays. So every run ends by telling
the browser what the link's parameters are by now.

A run of a fragment alone does so too. It may follow a run of the page that began before the visitor's last choice: what
that one told the browser is out of date by then.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.link.params import DEFAULT_TEXT, UNBOUND, page_parameters, write_all, write_changed
from playground.web.choices.pinned import write_pinned
from playground.web.choices.setup import OPEN_PAGE, current_setup
from playground.web.components.address_guard import write_address


def correct_address(guard: str = "address") -> None:
    """Put the present values of the open page's parameters into the address: of those that the session has by now.

    Called at the end of a run; `guard` names the place where that is.
    """
    write_address(guard, _present_texts())


def current_parameters() -> dict[str, list[str]]:
    """The link's parameters for the open page, as texts; those at their defaults are left out."""
    return {key: texts for key, texts in _present_texts().items() if texts}


def _present_texts() -> dict[str, list[str]]:
    """The texts of all parameters of the open page; an empty list takes one out of the address."""
    shared = current_setup().values
    keys = [*UNBOUND, *page_parameters(st.session_state[OPEN_PAGE])]
    values = {**shared, **{key: st.session_state[key] for key in keys if key in st.session_state}}
    texts: dict[str, list[str]] = {key: [] for key in values} | write_changed(values)
    if shared["text"] != DEFAULT_TEXT:
        # The defaults are those of the default text: in another one, a link without them opens at a chosen pair.
        texts |= {key: write_all(values[key]) for key in ("query", "key") if key in values}
    return texts | write_pinned(shared)


def is_fragment_run() -> bool:
    """Whether this run draws fragments alone, and not the page around them."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)
