"""The parameters of one page alone, and how their values come back after a step back in the browser's history."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.web.choices import params

OPEN_PAGE = "_open"
"""Session key of the page that was drawn last, by its path."""

_PREFIXES = {"": "overview", "step-by-step": "step", "encoder-decoder": "encdec", "gradient-flow": "gradient"}
"""How a page's parameters start, where that is not the page's path."""


def page_parameters(page: str) -> list[str]:
    """The keys of one page's own parameters, by its path."""
    return [key for key in params.OWN if key.startswith(f"{_PREFIXES.get(page, page)}_")]


def restore_page_values(page: str) -> None:
    """Put a page's own values back into the link after a step back in the browser's history, and start again.

    Such a step trusts the link alone, and Streamlit took the page's values out of it on leaving. The session still has
    them.
    """
    arrived, st.session_state[OPEN_PAGE] = st.session_state.get(OPEN_PAGE) != page, page
    context = get_script_run_ctx()
    if not arrived or context is None or not context.is_history_navigation:
        return
    keys = [key for key in page_parameters(page) if key in st.session_state]
    texts = {key: params.write_all(st.session_state[key]) for key in keys}
    changed = {key: text for key, text in texts.items() if text != params.write_all(params.OWN[key].default)}
    if changed.keys() - st.query_params.keys():
        st.query_params.update(changed)
        st.rerun()
