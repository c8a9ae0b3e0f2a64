"""What became of the answers of a network that was trained here: to this sentence, before and after the changes."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from playground.figures.theme import token_names
from playground.runs.encoder_run import Run
from playground.training.after.answers import answer_probabilities, right_answers
from playground.training.network import Tagger
from playground.training.tasks.task import IGNORE
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import trained_slot
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.views.what_if.following.validation_scores import draw_validation_scores


def draw_answers(run: Run, untouched: Run) -> None:
    """What the network that was trained here gets right, before and after; nothing where there is none."""
    setup = current_setup()
    if setup.trained_network is None:
        return
    st.markdown("**What became of its answers?**")
    draw_validation_scores(run)
    _draw_sentence(run, untouched, setup, setup.trained_network.labels)


def _draw_sentence(run: Run, untouched: Run, setup: Setup, labels: Sequence[str]) -> None:
    """The probability of each right answer to this sentence, before and after."""
    with panels.explain_errors():
        network = trained_slot.network_on_device(setup.weights)
        answers = _find_answers(setup)
        if not isinstance(network, Tagger) or answers is None:
            st.caption(
                "This network's task has no right answer for this sentence: a decoder answers, or the sentence is "
                "longer than those that it learnt from, or has symbols that it never saw."
            )
            return
        with services().turns.take():
            before, after = (
                answer_probabilities(network, each.arrays["final"][~each.padding]) for each in (untouched, run)
            )
    asked = [place for place, answer in enumerate(answers) if answer != IGNORE]
    if not asked:
        st.caption("Nothing is asked about a sentence of one token: no token follows.")
        return
    right = [answers[place] for place in asked]
    old, new = before[asked, right], after[asked, right]
    kept = [int((each[asked].argmax(axis=1) == right).sum()) for each in (before, after)]
    st.markdown(
        f"The right answer has a probability of **{new.mean():.0%}** on average, before the changes {old.mean():.0%}. "
        f"The likeliest answer is right at {kept[1]} of {len(asked)} tokens, before at {kept[0]}."
    )
    table = pd.DataFrame(
        {
            "right answer": [labels[answer] for answer in right],
            "before": old,
            "after": new,
            "likeliest after": [labels[answer] for answer in after[asked].argmax(axis=1)],
        },
        [token_names(run.tokens)[place] for place in asked],
    ).rename_axis("token")
    panels.numbers("whatif_answers", lambda: table, "Every answer's probability")


def _find_answers(setup: Setup) -> list[int] | None:
    """The right class of every token of the sentence; None where the task has none."""
    trained, row = trained_slot.find_network(setup.weights), setup.sentence
    n_tokens = len(setup.batch.tokens[row])
    return right_answers(trained, setup.batch.ids[row, :n_tokens].tolist(), list(setup.batch.unknown[row]))
