"""Where a change is made: the choices, one sentence on what they change, and the button."""

from collections.abc import Sequence

import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.link.opening import Focus
from playground.model.interventions import Intervention, SetWeight, ShufflePositions, SkipSublayer, Subject, ZeroHead
from playground.runs.encoder_run import Run
from playground.runs.inputs import intervention_subject
from playground.views.change_names import explain_change, explain_changes
from playground.web.choices import changes
from playground.web.choices.setup import Setup, current_setup
from playground.web.shared.change_chips import explain_refusal, is_same_place, make_in_place
from playground.web.views.what_if.making.compose_change import compose_changes


def draw_change_maker(run: Run, focus: Focus) -> None:
    """The choices and their button in a panel; without any change yet, examples to begin with above it."""
    setup = current_setup()
    subject = intervention_subject(run.config, setup.batch, setup.sentence, causal=setup["causal"])
    if not setup.changes:
        _draw_examples(run, focus, subject)
    with st.expander("Make a change", icon=":material/tune:", expanded=True, key="compose"):
        wanted = compose_changes(focus, run.config, len(setup.text.sentences), setup.sentence)
        st.markdown(escape_markdown(explain_changes(wanted, run.tokens)), width="content")
        _offer(setup, wanted)


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


def _offer(setup: Setup, wanted: Sequence[Intervention]) -> None:
    """The button that makes the changes or takes them back, or one sentence on why they cannot be made."""
    on = {made for made, is_on in setup.changes if is_on}
    is_made = set(wanted) <= on
    replaces = any(made != each and is_same_place(made, each) for made, _ in setup.changes for each in wanted)
    reason = "" if is_made else explain_refusal(setup, wanted)
    made = f"Set its strength to {wanted[0].strength:g}" if replaces else "Make this change"
    label = "Take this change back" if is_made else made
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(label, key="compose_make", disabled=bool(reason))
        if reason or is_made:
            waits = any(each in setup.fitted_changes.reasons for each in wanted)
            where = "its chip above says why it cannot apply" if waits else "what followed from it stands below"
            st.caption(escape_markdown(reason or f"This change is made already: {where}."), width="content")
    if not pressed or reason:
        return
    if is_made:
        changes.take_back(wanted)
    else:
        make_in_place(wanted)
    st.rerun()  # the chips above are outside of this fragment
