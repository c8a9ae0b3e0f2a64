"""The link to the present view, as the button in the sidebar copies it."""

from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from playground.link.link_values import VERSION
from playground.web.choices.address import current_parameters, parameters_to_copy
from playground.web.choices.setup import current_setup


def current_link() -> str:
    """The whole address, with what differs from the defaults and the link's version."""
    texts = parameters_to_copy(current_setup()) | current_parameters() | {"v": [VERSION]}
    address = urlsplit(st.context.url or "")
    return urlunsplit((address.scheme, address.netloc, address.path, urlencode(texts, doseq=True), ""))
