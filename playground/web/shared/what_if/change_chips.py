"""The line below every page's heading that names the changes of the computation, and switches each off and on."""

import streamlit as st

from playground.link.interventions import write_intervention
from playground.model.interventions import Intervention
from playground.web.choices import changes
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup
from playground.web.shared.markdown import escape_markdown
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import as_one_element

KEY = "change_chips"

CHANGED_PAGES = ("overview", "attention", "norms", "compare", "what-if", "step-by-step")
"""Pages that show the changed run; the others show other networks, count without running, or run on their own."""


@as_one_element
def draw_change_chips() -> None:
    """A chip for each change, pressed while it is made; nothing where there is none."""
    setup = current_setup()
    if not setup.changes:
        return
    names = {write_intervention(each): describe_change(each) for each, _ in setup.changes}
    st.session_state[KEY] = [write_intervention(each) for each, is_on in setup.changes if is_on]
    with st.container(key=f"{KEY}_line", horizontal=True, vertical_alignment="bottom", gap="small"):
        st.pills(
            "What if: press a change to switch it off or on",
            list(names),
            selection_mode="multi",
            format_func=names.__getitem__,
            key=KEY,
            on_change=_switch,
            width="content",
        )
        st.button(
            "Take all back", key="changes_back", icon=":material/undo:", type="tertiary", on_click=changes.take_back_all
        )
        if st.session_state[OPEN_PAGE] != "what-if":
            st.page_link(page_named("what-if"), label="What followed?", icon=":material/arrow_forward:")
    _explain(setup)


def describe_change(intervention: Intervention) -> str:
    """What it changes in a few words, with its strength where it is not made in full."""
    strength = "" if intervention.strength == 1 else f", strength {intervention.strength:g}"
    return f"{intervention.label}{strength}"


def _explain(setup: Setup) -> None:
    """Which of the changes cannot apply, and whether this page shows any."""
    if not setup.text.sentences:
        return
    fitted = setup.fitted_changes
    for reason in fitted.reasons.values():
        st.caption(f":material/warning: {escape_markdown(reason)}")
    if fitted.applied and st.session_state[OPEN_PAGE] not in CHANGED_PAGES:
        st.caption("This page shows the model without these changes.")


def _switch() -> None:
    on = st.session_state[KEY]
    changes.switch_changes([each for each, _ in current_setup().changes if write_intervention(each) in on])
