"""Two buttons beside a head's map: the head off, or the chosen pair cut, and the charts show what follows."""

import streamlit as st

from playground.link.places import Focus
from playground.model.interventions import Intervention, SetWeight, ZeroHead
from playground.runs.encoder_run import Run
from playground.runs.intervention_input import intervention_subject
from playground.web.choices import changes
from playground.web.choices.setup import current_setup
from playground.web.shared.what_if.change_names import explain_change


def draw_quick_changes(run: Run, focus: Focus) -> None:
    """The buttons; one whose change is made, or cannot be, is grey and says why."""
    setup = current_setup()
    subject = intervention_subject(run.config, setup.batch, setup.sentence, causal=setup["causal"])
    asked: dict[str, tuple[str, Intervention]] = {
        "off": ("What if this head were off?", ZeroHead(focus.layer, focus.head)),
        "cut": ("What if it could not look there?", SetWeight(focus.layer, focus.head, focus.query, focus.key, 0.0)),
    }
    made = {change.intervention: change.is_on for change in setup.changes}
    with st.container(key="quick_changes", horizontal=True, gap="small"):
        for key, (question, wanted) in asked.items():
            others = [each for each in setup.fitted_changes.applied if each != wanted]
            _, wrong = subject.split([*others, wanted])
            reason = "This change is made: its chip is above." if made.get(wanted) else " ".join(wrong)
            is_full = wanted not in made and not changes.n_free_changes()
            if st.button(
                question,
                key=f"quick_{key}",
                help=reason or explain_change(wanted, run.tokens),
                disabled=bool(reason) or is_full,
                icon=":material/question_exchange:",
            ):
                changes.make_changes([wanted])
                st.rerun()  # the chips above are outside of this fragment
