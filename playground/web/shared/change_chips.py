"""The changes of the computation: the line of chips below a page's heading, and buttons that make them."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from playground.errors import InterventionError, PlaygroundError
from playground.link.changes import MAX_CHANGES, FittedChanges
from playground.model.change_texts import write_change
from playground.model.changes import Change
from playground.model.interventions import check_change
from playground.runs.forward_pass import intervention_subject
from playground.views.change_names import group_layers, name_changes, name_tokens
from playground.web.choices import changes
from playground.web.choices.setup import Setup, current_setup
from playground.web.components.drawings import CHANGES_KEY, Chip, draw_chips
from playground.web.components.without_picture import request_scroll
from playground.web.shared.navigation import current_page, page_named
from playground.web.shared.page_end import as_one_element
from playground.words import say


def draw_followed_button(key: str) -> None:
    """Draw a button that opens the page What if at what followed."""
    label, help_text, icon = say("frame", "followed"), say("frame", "followed.help"), ":material/arrow_forward:"
    if st.button(label, key=key, type="tertiary", icon=icon, on_click=_show_what_followed, help=help_text):
        if current_page().path == "what-if":
            st.rerun()
        st.switch_page(page_named("what-if"), query_params={})


def _show_what_followed() -> None:
    st.session_state["whatif_view"] = "what followed"
    request_scroll("answer")


def explain_refusal(setup: Setup, wanted: Sequence[Change]) -> str:
    """Return why changes cannot be made; empty if they can. The wanted replace those at the same place."""
    if (
        sum(all(not is_same_place(each, made) for made, _ in setup.changes) for each in wanted)
        > changes.n_free_changes()
    ):
        return say("frame", "changes-full", most=str(MAX_CHANGES))
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
    """Draw a button that makes changes, or takes them back (`undo`); grey for a `reason`, as of `explain_refusal`."""
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
    """Make changes, switched on, in place of those that differ in strength alone."""
    for made, _ in current_setup().changes:
        for each in wanted:
            if made != each and is_same_place(made, each):
                changes.replace_change(made, each)
    changes.make_changes(wanted)


def is_same_place(one: Change, two: Change) -> bool:
    """Return whether two changes differ in their strength alone."""
    return replace(one, strength=1.0) == replace(two, strength=1.0)


@as_one_element
def draw_change_chips() -> None:
    """Draw a chip for each change, pressed while it is on."""
    setup, page = current_setup(), current_page()
    if not setup.changes:
        return
    tokens, fitted, waits = _read_text(setup)
    groups = _group(setup)
    with st.container(key=f"{CHANGES_KEY}_line", horizontal=True, vertical_alignment="center", gap="small"):
        chips = []
        for group, is_on in groups:
            name = name_changes(group, tokens)
            reason = name_tokens(next((fitted.reasons[each] for each in group if each in fitted.reasons), ""), tokens)
            note = waits if is_on else ""
            chips.append(Chip(_write_group(group), name, is_on, reason, note))
        draw_chips(chips, _switch, _take_back)
        if len(groups) > 1:
            st.button("Take all back", key="changes_back", type="tertiary", on_click=changes.take_back_all)
        if page.path != "what-if" and not st.context.is_embedded:
            draw_followed_button("changes_followed")
    if fitted.applied and not page.shows_changes:
        st.caption(say("frame", "no-changes"))


def _read_text(setup: Setup) -> tuple[Sequence[str], FittedChanges, str]:
    """The tokens, the changes that the run can have, and without a run, what they wait for."""
    try:
        if setup.text.sentences:
            return setup.batch.tokens[setup.sentence], setup.fitted_changes, ""
    except PlaygroundError:  # the page says it where it asks for the run
        pass
    return (), FittedChanges(), say("frame", "changes-wait")


def _group(setup: Setup) -> list[tuple[tuple[Change, ...], bool]]:
    """The changes as they were made, one in every layer as one, and whether each is on."""
    made, n_layers = dict(setup.changes), setup.config.n_layers
    groups = [
        (group, is_on)
        for is_on in (True, False)
        for group in group_layers([each for each in made if made[each] == is_on], n_layers)
    ]
    return sorted(groups, key=lambda found: list(made).index(found[0][0]))


def _switch() -> None:
    pressed = _find_group(st.session_state[CHANGES_KEY].switched)
    changes.switch_changes([each for each, is_on in current_setup().changes if is_on != (each in pressed)])


def _take_back() -> None:
    changes.take_back(_find_group(st.session_state[CHANGES_KEY].taken))


def _find_group(text: object) -> tuple[Change, ...]:
    return next((group for group, _ in _group(current_setup()) if _write_group(group) == text), ())


def _write_group(group: Sequence[Change]) -> str:
    return ",".join(map(write_change, group))
