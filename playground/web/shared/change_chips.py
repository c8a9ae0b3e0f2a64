"""The line below every page's heading that names the changes of the computation."""

from collections.abc import Sequence

import streamlit as st

from playground.errors import PlaygroundError
from playground.link.changes import FittedChanges
from playground.model.change_texts import write_change
from playground.model.changes import Change
from playground.pages import page_at
from playground.views.change_names import group_layers, name_changes, name_tokens
from playground.web.choices import changes
from playground.web.choices.focus import choose_places
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup
from playground.web.components.rows import CHANGES_KEY, Chip, draw_chips
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import as_one_element


@as_one_element
def draw_change_chips() -> None:
    """A chip for each change, pressed while it is made; nothing where there is none."""
    setup = current_setup()
    if not setup.changes:
        return
    tokens, fitted, waits = _read_text(setup)
    groups = _group(setup)
    with st.container(key=f"{CHANGES_KEY}_line", horizontal=True, vertical_alignment="center", gap="small"):
        draw_chips(
            [
                Chip(
                    _write_group(group),
                    name_changes(group, tokens),
                    name_changes(group, tokens),
                    is_on,
                    name_tokens(next((fitted.reasons[each] for each in group if each in fitted.reasons), ""), tokens),
                    waits if is_on else "",
                    is_on and bool(waits),
                )
                for group, is_on in groups
            ],
            _switch,
            _take_back,
        )
        if len(groups) > 1:
            st.button("Take all back", key="changes_back", type="tertiary", on_click=changes.take_back_all)
        if st.session_state[OPEN_PAGE] != "what-if" and not st.context.is_embedded:
            _draw_followed_button()
    told = page_at(st.session_state[OPEN_PAGE]).unchanged
    if told and fitted.applied:
        st.caption(told)


def _draw_followed_button() -> None:
    """Open the page What if at what followed, whichever view that page had before."""
    pressed = st.button(
        "What followed?",
        key="changes_followed",
        type="tertiary",
        icon=":material/arrow_forward:",
        on_click=choose_places,
        kwargs={"whatif_view": "what followed"},
        help="Opens the page What if at what your changes have moved.",
    )
    if pressed:
        st.switch_page(page_named("what-if"), query_params={})


def _read_text(setup: Setup) -> tuple[Sequence[str], FittedChanges, str]:
    """The sentence's tokens, and which changes its run can have; where there is no run, what the changes wait for."""
    if not setup.text.sentences:
        return (), FittedChanges(), "Waits for a sentence."
    try:
        return setup.batch.tokens[setup.sentence], setup.fitted_changes, ""
    except PlaygroundError:  # the page says it where it asks for the run
        return (), FittedChanges(), "Waits until the model can run."


def _group(setup: Setup) -> list[tuple[tuple[Change, ...], bool]]:
    """The changes as they were made, one in every layer as one, each with whether it is switched on."""
    made = dict(setup.changes)
    groups = [
        (group, is_on)
        for is_on in (True, False)
        for group in group_layers([each for each in made if made[each] == is_on], setup.config.n_layers)
    ]
    places = list(made)
    return sorted(groups, key=lambda found: places.index(found[0][0]))


def _switch() -> None:
    pressed = _find_group(st.session_state[CHANGES_KEY].switched)
    changes.switch_changes([each for each, is_on in current_setup().changes if is_on != (each in pressed)])


def _take_back() -> None:
    changes.take_back(_find_group(st.session_state[CHANGES_KEY].taken))


def _find_group(text: object) -> tuple[Change, ...]:
    """The changes of the chip that sends a text back; none where it is there no more."""
    return next((group for group, _ in _group(current_setup()) if _write_group(group) == text), ())


def _write_group(group: Sequence[Change]) -> str:
    return ",".join(map(write_change, group))
