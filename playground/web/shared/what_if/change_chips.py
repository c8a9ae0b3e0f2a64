"""The line below every page's heading that names the changes of the computation, and switches each off and on."""

from collections.abc import Sequence

import streamlit as st

from playground.errors import PlaygroundError
from playground.link.changes import FittedChanges
from playground.model.change_texts import write_change
from playground.model.changes import Change
from playground.web.choices import changes
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup
from playground.web.components.change_chips import KEY, Chip, draw_chips
from playground.web.shared.page_end import as_one_element
from playground.web.shared.what_if.change_names import explain_change, name_change, name_tokens
from playground.web.shared.what_if.changed_pages import what_page_shows
from playground.web.shared.what_if.followed_button import draw_followed_button


@as_one_element
def draw_change_chips() -> None:
    """A chip for each change, pressed while it is made; nothing where there is none."""
    setup = current_setup()
    if not setup.changes:
        return
    tokens, fitted, waits = _read_text(setup)
    with st.container(key=f"{KEY}_line", horizontal=True, vertical_alignment="center", gap="small"):
        draw_chips(
            [
                Chip(
                    write_change(each),
                    name_change(each, tokens),
                    explain_change(each, tokens),
                    is_on,
                    name_tokens(fitted.reasons.get(each, ""), tokens),
                    waits if is_on and waits else _note_idle(fitted.idle.get(each)),
                    is_on and bool(waits),
                )
                for each, is_on in setup.changes
            ],
            _switch,
            _take_back,
        )
        if len(setup.changes) > 1:
            st.button("Take all back", key="changes_back", type="tertiary", on_click=changes.take_back_all)
        if st.session_state[OPEN_PAGE] != "what-if" and not st.context.is_embedded:
            draw_followed_button("changes_followed")
    told = what_page_shows(st.session_state[OPEN_PAGE])
    if told and fitted.applied:
        st.caption(told)


def _read_text(setup: Setup) -> tuple[Sequence[str], FittedChanges, str]:
    """The sentence's tokens, and which changes its run can have; where there is no run, what the changes wait for."""
    if not setup.text.sentences:
        return (), FittedChanges(), "Waits for a sentence."
    try:
        return setup.batch.tokens[setup.sentence], setup.fitted_changes, ""
    except PlaygroundError:  # the page says it where it asks for the run
        return (), FittedChanges(), "Waits until the model can run."


def _note_idle(off: str | None) -> str:
    return f"No effect on what follows: {off}." if off else ""


def _switch() -> None:
    text = st.session_state[KEY].switched
    changes.switch_changes([each for each, is_on in current_setup().changes if is_on != _is(each, text)])


def _take_back() -> None:
    text = st.session_state[KEY].taken
    changes.take_back([each for each, _ in current_setup().changes if _is(each, text)])


def _is(change: Change, text: object) -> bool:
    return write_change(change) == text
