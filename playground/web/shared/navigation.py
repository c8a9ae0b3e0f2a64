"""The pages, by name."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

_FOLDER = Path(__file__).resolve().parents[3] / "pages"

_PAGES = {
    "overview": ("Overview", "The way of your sentence through the encoder, with its shapes."),
    "attention": ("Attention", "Every head's attention, one head large, and what can be read off it."),
    "norms": ("Norms", "How long the vectors are, layer by layer, and what the norms do to them."),
    "parameters": ("Parameters", "Where the parameters, the work and the memory go."),
    "compare": ("Compare", "Two settings side by side: what a change changes, and where."),
    "what-if": ("What if", "Parts of the computation switched off, cut or replaced, and what followed."),
    "similarity": ("Similarity", "Which sentences the encoder puts close together, and which words do that."),
    "step-by-step": ("Steps", "One layer, one head, one token: every number on the way."),
    "positions": ("Positions", "How words are told apart by their place, and what is lost without."),
    "encoder-decoder": ("Decoder", "How a decoder reads what the encoder wrote, and what comes next."),
    "gradient-flow": ("Gradient flow", "What norms and residual connections do to a gradient on its way back."),
    "training": ("Training", "A small transformer learns a task while you watch, in the architecture you choose."),
    "regularisers": (
        "Regularisers",
        "Ten ways to train that are to help: what each changes, measured in runs of your own.",
    ),
    "tutorials": (
        "Tutorials",
        "The five tutorials side by side: where they differ, what it does, and what went wrong.",
    ),
}
"""Title and purpose; titles this short, without icons, all fit into the menu of a window of 1,280 pixels."""


def page_named(name: str) -> StreamlitPage:
    """The page of a name, which is its path in the address; the overview's is empty. KeyError: there is none."""
    title, purpose = _PAGES[name]
    return st.Page(
        _FOLDER / f"{name.replace('-', '_')}.py",
        title=title,
        help=purpose,
        default=name == "overview",
        url_path=None if name == "overview" else name,
    )


def pages() -> dict[str, StreamlitPage]:
    """Every page by its name. Streamlit looks for each one's file: where one is linked, `page_named` is quicker."""
    return {name: page_named(name) for name in _PAGES}
