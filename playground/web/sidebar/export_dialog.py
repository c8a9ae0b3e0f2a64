"""The sidebar's button "Take it with you", and the dialog behind it: a tab for each kind of file."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import streamlit as st

from playground.export.code.export import Export
from playground.export.code.own_weights import FILE_NAME
from playground.pages import page_at
from playground.web.choices.setup import OPEN_PAGE, current_setup
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError, draw_in_turn, fragment
from playground.web.sidebar.data_export import draw_data_export
from playground.web.sidebar.how_made import draw_how_made

BUTTON = "export"
"""Key of the button; those of the downloads are it and the kind."""

Variants = Mapping[str, Callable[[], Export]]
"""What can be taken along, by what it is called: each function makes it of what is on the screen."""


@fragment
def export_button(variants: Variants) -> None:
    """The button. Its click runs this fragment alone, and the page stays as it is."""
    label, icon = "Take it with you", ":material/download:"
    if st.button(label, key=BUTTON, icon=icon, width="stretch"):
        show_export(variants)


@st.dialog("Take it with you", width="large")
def show_export(variants: Variants) -> None:
    """The dialog."""
    draw_in_turn("export", partial(_draw_tabs, variants))


def _draw_tabs(variants: Variants) -> None:
    tabs = st.tabs(list(TABS), key="export_tabs", on_change="rerun")
    for tab, draw in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab, suppress(PageEndError):
                draw(variants)


def draw_python(variants: Variants) -> None:
    """Draw the Python file and its download."""
    export = chosen_export(variants)
    code = export.python()
    st.markdown(
        "One file for what is on the screen. It has only the branches that this setup takes, and needs no playground. "
        "It ends by comparing its numbers with those that were computed here: run it, and it proves itself."
    )
    _offer(f"{export.name}.py", code, "text/x-python")
    _offer_weights(export)
    st.code(code, language="python", height=440)


def draw_notebook(variants: Variants) -> None:
    """Draw the notebook's code and its download."""
    export = chosen_export(variants)
    exercises = (
        "Three exercises stand at the end, each with a cell that checks your answer. " if export.exercises else ""
    )
    st.markdown(
        "The same as a Jupyter notebook: one concept a cell, with an explanation above it. Its first cell installs "
        f"what is missing. {exercises}It opens in Jupyter, Colab and VS Code."
    )
    _offer(f"{export.name}.ipynb", export.notebook(), "application/x-ipynb+json")
    _offer_weights(export)
    with st.container(height=440):
        for section in [*export.sections, *export.exercises]:
            st.markdown(f"##### {section.title}\n\n{section.explanation}")
            for cell in section.cells:
                st.code(cell, language="python")


TABS: dict[str, Callable[[Variants], None]] = {
    "Python": draw_python,
    "Notebook": draw_notebook,
    "Data": lambda _: draw_data_export(),
    "How this was made": lambda _: draw_how_made(),
}
"""What each tab of the dialog draws; a new one is a line."""


def chosen_export(variants: Variants) -> Export:
    """Draw the choice of what to take along; returns it, or ends the tab where it can't be written down."""
    page = st.session_state[OPEN_PAGE]
    usual = page_at(page).exports
    key = f"{BUTTON}_variant_{page}"
    chosen = st.segmented_control(
        "What", list(variants), default=usual, required=True, key=key, label_visibility="collapsed"
    )
    if (chosen or usual) == next(iter(variants)) and any(change.is_on for change in current_setup().changes):
        st.caption(
            "The changes of What if are not in this code: its numbers are those of the model without them. "
            "`open_link` of the copied link has them, and so has the tab Data."
        )
    with panels.explain_errors():
        return variants[chosen or usual]()


def _offer_weights(export: Export) -> None:
    """Draw the button for the file of weights that the code reads, if there is one."""
    if export.weights is not None:
        st.caption(f"These weights are in no package. Put their file into the same folder: `{FILE_NAME}`.")
        _offer(FILE_NAME, export.weights.data, "application/octet-stream")


def _offer(name: str, text: str | bytes, kind: str) -> None:
    """Draw the button that downloads a file."""
    st.download_button(
        f"Download {name}",
        text,
        file_name=name,
        mime=kind,
        key=f"{BUTTON}_{name.rpartition('.')[2]}",
        icon=":material/download:",
        on_click="ignore",
    )
