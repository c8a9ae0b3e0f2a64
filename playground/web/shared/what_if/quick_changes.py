"""Two buttons beside a head's map that make a change and take it back: the head off, and the chosen pair cut."""

import streamlit as st

from playground.link.places import Focus
from playground.model.interventions import Intervention, SetWeight, ZeroHead
from playground.runs.encoder_run import Run
from playground.runs.intervention_input import intervention_subject
from playground.web.choices import changes
from playground.web.choices.setup import current_setup
from playground.web.shared.navigation import page_named
from playground.web.shared.what_if.change_names import explain_change


def draw_quick_changes(run: Run, focus: Focus) -> None:
    """The buttons; one whose change is made takes it back, and one whose change cannot be made is grey and says why."""
    setup = current_setup()
    subject = intervention_subject(run.config, setup.batch, setup.sentence, causal=setup["causal"])
    applied = setup.fitted_changes.applied
    asked: dict[str, tuple[str, str, Intervention]] = {
        "off": ("What if this head were off?", "Made: this head is off. Undo", ZeroHead(focus.layer, focus.head)),
        "cut": (
            "What if it could not look there?",
            "Made: it cannot look there. Undo",
            SetWeight(focus.layer, focus.head, focus.query, focus.key, 0.0),
        ),
    }
    with st.container(key="quick_changes", horizontal=True, gap="small"):
        for key, (question, answer, wanted) in asked.items():
            is_made = wanted in applied
            _, wrong = subject.split([*(each for each in applied if each != wanted), wanted])
            reason = "" if is_made else " ".join(wrong)
            is_full = wanted not in {each for each, _ in setup.changes} and not changes.n_free_changes()
            if st.button(
                answer if is_made else question,
                key=f"quick_{key}",
                help=reason or explain_change(wanted, run.tokens),
                disabled=bool(reason) or is_full,
                icon=":material/undo:" if is_made else ":material/question_exchange:",
            ):
                if is_made:
                    changes.take_back([wanted])
                else:
                    changes.make_changes([wanted])
                st.rerun()  # the chips above are outside of this fragment
        if applied and not st.context.is_embedded:
            st.page_link(page_named("what-if"), label="What followed?", icon=":material/arrow_forward:")
