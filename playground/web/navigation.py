"""The pages, by name."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

_FOLDER = Path(__file__).resolve().parents[2] / "pages"

_PAGES = {
    "overview": ("Overview", ":material/route:", "The way of your sentence through the encoder, with its shapes."),
    "attention": (
        "Attention",
        ":material/grid_on:",
        "Every head's attention, one head large, and what can be read off it.",
    ),
    "norms": (
        "Norms",
        ":material/straighten:",
        "How long the vectors are, layer by layer, and what the norms do to them.",
    ),
    "step-by-step": (
        "Step by step",
        ":material/footprint:",
        "One layer, one head, one token: every number on the way.",
    ),
    "positions": (
        "Positions",
        ":material/format_list_numbered:",
        "How words are told apart by their place, and what is lost without.",
    ),
    "encoder-decoder": (
        "Encoder–decoder",
        ":material/compare_arrows:",
        "Two halves: how the decoder reads what the encoder wrote, and what comes next.",
    ),
    "parameters": ("Parameters", ":material/scale:", "Where the parameters, the work and the memory go."),
    "tutorials": (
        "Tutorials",
        ":material/school:",
        "The five tutorials side by side: where they differ, what it does, and what went wrong.",
    ),
}


def pages() -> dict[str, StreamlitPage]:
    """Every page by its name, which is its path in the address; the overview's is empty."""
    return {
        name: st.Page(
            _FOLDER / f"{name.replace('-', '_')}.py",
            title=title,
            icon=icon,
            help=purpose,
            default=name == "overview",
            url_path=None if name == "overview" else name,
        )
        for name, (title, icon, purpose) in _PAGES.items()
    }
