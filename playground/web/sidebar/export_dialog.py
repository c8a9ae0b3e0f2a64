"""The sidebar's button "Take it with you", and the dialog behind it: a tab for each kind of file."""

from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from playground.errors import UnavailableError
from playground.export.encoder_export import export_encoder
from playground.export.export import Export
from playground.export.shown import Place, of_run
from playground.web.choices.focus import current_focus
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError, fragment

BUTTON = "export"
"""Key of the button; those of the downloads are it and the kind."""


@fragment
def export_button() -> None:
    """The button. Its click runs this fragment alone, and the page stays as it is."""
    label, icon = "Take it with you", ":material/download:"
    if st.button(label, key=BUTTON, icon=icon, width="stretch"):
        show_export()


@st.dialog("Take it with you", width="large")
def show_export() -> None:
    """The dialog."""
    tabs = st.tabs(list(TABS), key="export_tabs", on_change="rerun")
    for tab, draw in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab, suppress(PageEndError):
                draw()


def draw_python() -> None:
    """Draw the Python file and its download."""
    export = shown_export()
    code = export.python()
    st.markdown(
        "One file for the setup on the screen: this architecture, this sentence, these weights. It has only the "
        "branches that this setup takes. It ends with an assertion of the numbers that the page shows."
    )
    _offer(f"{export.name}.py", code, "text/x-python")
    st.code(code, language="python", height=460)


def draw_notebook() -> None:
    """Draw the notebook's code and its download."""
    export = shown_export()
    st.markdown(
        "The same as a Jupyter notebook: one concept a cell, with an explanation above it. Its first cell installs "
        "what is missing. Three exercises stand at the end, each with a cell that checks your answer. It opens in "
        "Jupyter, Colab and VS Code."
    )
    _offer(f"{export.name}.ipynb", export.notebook(), "application/x-ipynb+json")
    with st.container(height=460):
        for section in [*export.sections, *export.exercises]:
            st.markdown(f"##### {section.title}\n\n{section.explanation}")
            for cell in section.cells:
                st.code(cell, language="python")


TABS: dict[str, Callable[[], None]] = {"Python": draw_python, "Notebook": draw_notebook}
"""What each tab of the dialog draws; a new one is a line."""


def shown_export() -> Export:
    """What is on the screen, to take along; ends the tab, with a sentence, where it can't be written down."""
    setup = current_setup()
    panels.require_text(setup, "Type a sentence in the sidebar: the file is about what the encoder does with it.")
    with panels.explain_errors():
        return _export_encoder(setup)


def _export_encoder(setup: Setup) -> Export:
    if setup.weights not in ("random", "minilm"):
        raise UnavailableError(
            "Weights of your own are in no package that a file could name. Choose the weights minilm or random to take "
            "this page along."
        )
    run = caches.run_sentence(setup.run_key)
    focus = current_focus(run)
    shown = of_run(
        run,
        setup.batch,
        setup.sentence,
        seed=setup["seed"],
        weights=setup.weights,
        tokenizer=setup["tokenizer"],
        causal=setup["causal"],
        place=Place(focus.layer, focus.head, focus.query),
    )
    return export_encoder(shown)


def _offer(name: str, text: str, kind: str) -> None:
    """Draw the button that downloads a file."""
    st.download_button(
        f"Download {name}",
        text,
        file_name=name,
        mime=kind,
        key=f"{BUTTON}_{name.rpartition('.')[2]}",
        icon=":material/download:",
        on_click="ignore",
        type="primary",
    )
