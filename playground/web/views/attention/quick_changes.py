"""Two buttons beside a head's map that make a change and take it back: the head off, and the chosen pair cut."""

import numpy as np
import streamlit as st

from playground.analysis.comparison import moved_weight
from playground.analysis.vector_changes import sentence_change, stream_change
from playground.charts.markdown import escape_markdown, quote_place
from playground.link.opening import Focus
from playground.model.interventions import Intervention, SetWeight, SkipSublayer, ZeroHead
from playground.runs.encoder_run import Run
from playground.views.change_names import explain_change
from playground.web.choices import changes
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.change_chips import draw_followed_button, explain_refusal, make_in_place

LEAST_MOVED = 5e-4
"""The smallest share of weight, or of a length, that a percentage with one decimal does not round to 0."""


def draw_quick_changes(run: Run, focus: Focus) -> None:
    """The buttons; one whose change is made takes it back, and one whose change cannot be made is grey and says why.

    Where the head is off, what that leaves as it was and what it moved stands below them.
    """
    setup = current_setup()
    applied = setup.fitted_changes.applied
    asked: dict[str, tuple[str, str, Intervention]] = {
        "off": ("What if this head were off?", "Made: this head is off. Undo", ZeroHead(focus.layer, focus.head)),
        "cut": (
            "What if it could not look there?",
            "Made: it cannot look there. Undo",
            SetWeight(focus.layer, focus.head, focus.query, focus.key, 0.0),
        ),
    }
    refused = []
    with st.container(key="quick_changes", horizontal=True, gap="small"):
        for key, (question, answer, wanted) in asked.items():
            is_made = wanted in applied
            reason = "" if is_made else explain_refusal(setup, [wanted])
            if reason:
                refused.append(reason)
            if st.button(
                answer if is_made else question,
                key=f"quick_{key}",
                help=reason or explain_change(wanted, run.tokens),
                disabled=bool(reason),
                icon=":material/undo:" if is_made else ":material/question_exchange:",
            ):
                if is_made:
                    changes.take_back([wanted])
                else:
                    make_in_place([wanted])
                st.rerun()  # the chips above are outside of this fragment
    for reason in dict.fromkeys(refused):
        st.caption(escape_markdown(reason))
    if any(_is_off(each, focus) for each in applied):
        with st.container(key="head_is_off"):
            st.markdown(_describe_off(run, focus))
    if applied and not st.context.is_embedded:
        draw_followed_button("quick_followed")


def _is_off(change: Intervention, focus: Focus) -> bool:
    """Whether a change drops what the head in focus gathers, in part or in whole."""
    match change:
        case ZeroHead(layer=layer, head=head):
            return layer == focus.layer and head in (None, focus.head) and change.strength > 0
        case SkipSublayer(layer=layer, sublayer=sublayer):
            return layer == focus.layer and sublayer == "attn" and change.strength > 0
        case _:
            return False


def _describe_off(run: Run, focus: Focus) -> str:
    """That a head that is off still attends, and what the changes have moved, in markdown."""
    with panels.explain_errors():
        untouched = caches.run_sentence(current_setup().untouched_key)
    share = max(each.strength for each in run.interventions if _is_off(each, focus))
    off, dropped = ("off", "is dropped") if share == 1 else ("partly off", f"is dropped by {share:.0%}")
    told = (
        f"**Layer {focus.layer}, head {focus.head} is {off}, and still attends:** its pattern stays, and what it "
        f"gathers {dropped} on the way to the stream."
    )
    moved = float(sentence_change(untouched, run).relative)
    if not np.isfinite(moved):
        return f"{told} What moved is beyond the range of 32-bit floats."
    whose = "That" if len(run.interventions) == 1 else "All your changes together"
    told += f" {whose} moved the sentence's vector by **{moved:.1%}** of its length"
    by_token = stream_change(untouched, run).relative[-1]
    if np.isfinite(by_token).all() and by_token.max() >= LEAST_MOVED:
        token = int(by_token.argmax())
        told += (
            f"; of its tokens' vectors, that of {quote_place(run.tokens, token)} moved most, by {by_token[token]:.1%}"
        )
    weights = moved_weight(untouched, run)
    if not np.nan_to_num(weights).max() >= LEAST_MOVED:
        return f"{told}. No head's pattern changed by {LEAST_MOVED:.2%} of its weight."
    layer, head = np.unravel_index(int(np.nanargmax(weights)), weights.shape)
    return f"{told}. The pattern of layer {layer}, head {head} changed most: {weights[layer, head]:.1%} of its weight."
