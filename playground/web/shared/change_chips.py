"""The line below every page's heading that names the changes of the computation, and buttons that make them."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from playground.errors import InterventionError, PlaygroundError
from playground.link.changes import MAX_CHANGES, FittedChanges
from playground.model.change_texts import write_change
from playground.model.changes import Change
from playground.model.interventions import check_change
from playground.pages import page_at
from playground.runs.forward_pass import intervention_subject
from playground.views.change_names import group_layers, name_changes, name_tokens
from playground.web.choices import changes
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup
from playground.web.components.drawings import CHANGES_KEY, Chip, draw_chips
from playground.web.components.without_picture import scroll_to
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import as_one_element

ANSWER = "answer"
"""Key of the container of a page's answer: on the page What if, how far the sentence has moved."""

_ARRIVING = "_followed_arriving"
"""Session key that is there from the press until what followed is drawn."""


def draw_followed_button(key: str) -> None:
    """A button that opens the page What if at what followed, whichever view that page had before."""
    pressed = st.button(
        "What followed?",
        key=key,
        type="tertiary",
        icon=":material/arrow_forward:",
        on_click=_show_what_followed,
        help="Opens the page What if at what your changes have moved.",
    )
    if pressed and st.session_state[OPEN_PAGE] != "what-if":
        st.switch_page(page_named("what-if"), query_params={})


def scroll_on_arrival() -> None:
    """Scroll to what followed, for a visitor who has just pressed the button."""
    if st.session_state.pop(_ARRIVING, False):
        scroll_to(ANSWER)


def _show_what_followed() -> None:
    st.session_state["whatif_view"] = "what followed"
    st.session_state[_ARRIVING] = True


def explain_refusal(setup: Setup, wanted: Sequence[Change]) -> str:
    """One sentence on why changes cannot be made, and what to take back for them; empty where they can.

    A change at the same place with another strength makes room for the wanted one.
    """
    n_new = sum(all(not is_same_place(each, made) for made, _ in setup.changes) for each in wanted)
    if n_new > changes.n_free_changes():
        return f"A link holds {MAX_CHANGES} changes at most: take others back above first."
    subject = intervention_subject(setup.config, setup.batch, setup.sentence, causal=setup["causal"])
    beside = [made for made in setup.fitted_changes.applied if not any(is_same_place(made, each) for each in wanted)]
    for each in wanted:
        try:
            check_change(subject, each, beside)
        except InterventionError as error:
            return name_tokens(str(error), setup.batch.tokens[setup.sentence])
        beside.append(each)
    return ""


def draw_change_button(
    label: str,
    undo: str,
    wanted: Sequence[Change],
    *,
    is_made: bool,
    reason: str,
    key: str,
    icon: str | None = None,
    help_text: str | None = None,
) -> None:
    """A button that makes changes, and takes them back where they are made; grey where there is a reason against it.

    The whole page follows a press, as its heading names the changes.

    Args:
        label: what it is called while the changes can be made.
        undo: what it is called while they are made.
        wanted: the changes.
        is_made: whether all of them are made.
        reason: why they cannot be made, as of `explain_refusal`; empty where they can.
        key: of the button.
        icon: beside the label; where there is one, `undo` has one too.
        help_text: its tooltip.
    """
    shown, shown_icon = (undo, icon and ":material/undo:") if is_made else (label, icon)
    pressed = st.button(shown, key=key, icon=shown_icon, disabled=bool(reason) or not wanted, help=help_text)
    if not pressed or reason:
        return
    if is_made:
        changes.take_back(wanted)
    else:
        make_in_place(wanted)
    st.rerun()


def make_in_place(wanted: Sequence[Change]) -> None:
    """Make changes, switched on; one at the same place with another strength is replaced."""
    for made, _ in current_setup().changes:
        for each in wanted:
            if made != each and is_same_place(made, each):
                changes.replace_change(made, each)
    changes.make_changes(wanted)


def is_same_place(one: Change, two: Change) -> bool:
    """Whether two changes differ in their strength alone."""
    return replace(one, strength=1.0) == replace(two, strength=1.0)


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
                    is_on,
                    name_tokens(next((fitted.reasons[each] for each in group if each in fitted.reasons), ""), tokens),
                    waits if is_on else "",
                )
                for group, is_on in groups
            ],
            _switch,
            _take_back,
        )
        if len(groups) > 1:
            st.button("Take all back", key="changes_back", type="tertiary", on_click=changes.take_back_all)
        if st.session_state[OPEN_PAGE] != "what-if" and not st.context.is_embedded:
            draw_followed_button("changes_followed")
    told = page_at(st.session_state[OPEN_PAGE]).unchanged
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
