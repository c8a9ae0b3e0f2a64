"""Where a change is made: the choices, one sentence on what they change, and the button."""

from dataclasses import replace

import streamlit as st

from playground.errors import InterventionError
from playground.link.places import Focus
from playground.model.interventions import Intervention, SetWeight, ShufflePositions, SkipSublayer, Subject, ZeroHead
from playground.runs.encoder_run import Run
from playground.runs.intervention_input import intervention_subject
from playground.web.choices import changes
from playground.web.choices.setup import Setup, current_setup
from playground.web.shared.markdown import escape_markdown
from playground.web.shared.what_if.change_names import explain_change
from playground.web.views.what_if.making.compose_change import compose_change


def draw_change_maker(run: Run, focus: Focus) -> None:
    """The choices and their button in a panel; without any change yet, examples to begin with above it."""
    setup = current_setup()
    subject = intervention_subject(run.config, setup.batch, setup.sentence, causal=setup["causal"])
    if not setup.changes:
        _draw_examples(run, focus, subject)
    with st.expander("Make a change", icon=":material/tune:", expanded=True, key="compose"):
        wanted = compose_change(focus, run.config, len(setup.text.sentences), setup.sentence)
        st.markdown(escape_markdown(explain_change(wanted, run.tokens)), width="content")
        _offer(setup, subject, wanted)


def list_examples(focus: Focus, subject: Subject) -> list[Intervention]:
    """Up to three changes that this sentence's run can have, at the focus: a head, a sublayer, then order or a pair."""
    layer, head, query, key = focus.layer, focus.head, focus.query, focus.key
    possible: list[Intervention] = [ZeroHead(layer, head), SkipSublayer(layer, "attn"), ShufflePositions(1)]
    pair = SetWeight(layer, head, query, key, 0.0)
    return [each for each in (*possible, pair) if subject.split([each])[0]][:3]


def _draw_examples(run: Run, focus: Focus, subject: Subject) -> None:
    st.markdown(
        "Nothing is changed yet. Switch a part off, and see what the model does without it. Begin with one of these, "
        "or choose a layer, a head and two tokens above, and put a change together below."
    )
    with st.container(key="examples", horizontal=True):
        for place, example in enumerate(list_examples(focus, subject)):
            if st.button(
                _invite_to(example),
                key=f"example_{place}",
                icon=":material/play_arrow:",
                help=explain_change(example, run.tokens),
            ):
                changes.make_changes([example])
                st.rerun()


def _invite_to(example: Intervention) -> str:
    """An example as a newcomer would say it."""
    match example:
        case ZeroHead(layer=layer, head=head):
            return f"Switch head {head} of layer {layer} off"
        case SkipSublayer(layer=layer):
            return f"Switch all attention of layer {layer} off"
        case ShufflePositions():
            return "Shuffle the positions"
        case _:
            return "Forbid the chosen pair"


def _offer(setup: Setup, subject: Subject, wanted: Intervention) -> None:
    """The button, or one sentence on why the change cannot be made."""
    made = next((each for each, _ in setup.changes if _is_same_place(each, wanted)), None)
    reason = _why_not(setup, subject, wanted, made)
    label = "Make this change" if made in (None, wanted) else f"Set its strength to {wanted.strength:g}"
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(label, key="compose_make", disabled=bool(reason))
        if reason:
            st.caption(escape_markdown(reason), width="content")
    if pressed and not reason:
        if made is None:
            changes.make_changes([wanted])
        else:
            changes.replace_change(made, wanted)
        st.rerun()  # the chips above are outside of this fragment


def _why_not(setup: Setup, subject: Subject, wanted: Intervention, made: Intervention | None) -> str:
    """One sentence on why a change cannot be made beside the others that are on; empty where it can."""
    if made == wanted:
        return "This change is made already: its chip above switches it off and on."
    if made is None and not changes.n_free_changes():
        return "A link holds no more changes: take one back above first."
    try:
        subject.check(wanted, [each for each in setup.fitted_changes.applied if each != made])
    except InterventionError as error:
        return str(error)
    return ""


def _is_same_place(one: Intervention, two: Intervention) -> bool:
    """Whether two changes differ in their strength alone."""
    return replace(one, strength=1.0) == replace(two, strength=1.0)
