"""The pinned settings: a second full set of the sidebar's values, which pages show beside the present ones.

They lie in the session as one plain value, bound to no widget. As with the focus, `open_page` reads them from the link
once, and `correct_address` writes them there: `b_` and the parameter's key, where they differ from the present ones.
`pinned=true` stands for them where they don't differ at all.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import streamlit as st

from playground.link.link_values import MARKER, PINNED_KEYS, of_pinned, pinned_texts, read_pinned
from playground.link.params import SHARED

_PINNED = "_pinned"
"""Session key of the pinned values; None where nothing is pinned, nothing at all before the link was read."""

Settle = Callable[[Mapping[str, Any], Collection[str]], tuple[dict[str, Any], list[str]]]
"""Makes values go together: (values, keys that a link has set) → values, a sentence for each change that needs one."""


def pinned_values() -> Mapping[str, Any] | None:
    """The pinned settings, by the sidebar's keys; None where nothing is pinned."""
    values: Mapping[str, Any] | None = st.session_state.get(_PINNED)
    return values


def pin(values: Mapping[str, Any]) -> None:
    """Pin settings instead of those that are pinned, if any; `values` are of all the sidebar's keys."""
    st.session_state[_PINNED] = {key: values[key] for key in SHARED}


def unpin() -> None:
    """Pin nothing."""
    st.session_state[_PINNED] = None


def swap_pinned(now: Mapping[str, Any]) -> None:
    """Pin the present values, and set the sidebar to those that were pinned; for callbacks, before any widget."""
    values = pinned_values()
    if values is not None:
        pin(now)
        st.session_state.update(values)


def settle_pinned(texts: Mapping[str, list[str]], now: Mapping[str, Any], settle: Settle) -> list[str]:
    """Make the pinned settings go together, which a session takes from its first link's texts.

    Returns:
        A sentence for each thing that is wrong with the link, and for each change that needs one.
    """
    from_link: set[str] = set()
    sentences: list[str] = []
    if _PINNED not in st.session_state:
        st.session_state[_PINNED], from_link, sentences = read_pinned(texts, now)
    values = pinned_values()
    if values is None:
        return sentences
    settled, reasons = settle(values, from_link)
    pin(settled)
    return sentences + [of_pinned(reason) for reason in reasons]


def write_pinned(now: Mapping[str, Any]) -> dict[str, list[str]]:
    """The link's texts for what is pinned, beside the present values; an empty list takes a parameter out."""
    nothing: dict[str, list[str]] = {name: [] for name in (MARKER, *PINNED_KEYS)}
    values = pinned_values()
    if values is None:
        return nothing
    return nothing | pinned_texts(values, now)
