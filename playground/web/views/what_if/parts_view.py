"""Which parts matter: each is switched off alone, and its effect drawn where it stands in the model."""

from collections.abc import Callable, Sequence
from typing import cast

import streamlit as st

from playground.analysis.effects.sweeps import list_pairs
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.focus import current_focus
from playground.web.choices.setup import Setup, current_setup
from playground.web.components.without_picture import ask_again
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.views.what_if import part_charts
from playground.web.views.what_if.measurements import part_numbers
from playground.web.views.what_if.measurements.measuring import keep_measuring
from playground.web.views.what_if.measurements.part_numbers import PartNumbers
from playground.web.views.what_if.measurements.sweep_caches import PartKind, SweepKey
from playground.web.views.what_if.other_sentence import choose_other

MAP_HELP = (
    "heads: one head gathers nothing. sublayers: attention or feed-forward adds nothing. pairs of one head: one token "
    "does not attend to one other. hidden tokens: in one layer, no other token attends to this one."
)
ON_HELP = (
    "sentence vector: how far it moves. similarity: to another sentence of your text. right answers: of a network that "
    "was trained here, on its validation set."
)


def draw_parts() -> None:
    """The choice of parts, and of what their absence is measured on; the map, and what is read off it."""
    setup = current_setup()
    with panels.explain_errors():
        run = caches.run_sentence(setup.untouched_key)
    focus = current_focus(run)
    left, right = st.columns(2, gap="medium")
    with left:
        kind = cast(PartKind, widgets.choice("whatif_parts", "Switch off, one at a time", help_text=MAP_HELP))
    with right:
        target = widgets.choice("whatif_on", "Measured on", help_text=ON_HELP)
    parts = SweepKey(kind)
    if kind == "pairs of one head":
        parts = SweepKey(kind, focus.layer, focus.head)
        if not list_pairs(run):
            st.info("No token has a second key here, so that no pair can be cut.")
            return
    with panels.explain_errors():
        numbers = _find_numbers(setup, parts, target, run)
    tried = f"{len(numbers.effects()):,} {'pairs' if kind == 'pairs of one head' else kind}"
    if kind == "heads":
        with panels.explain_errors():
            sublayers = numbers.of_sublayers()
        _keep_measuring_in_turn([numbers, sublayers], tried)
        part_charts.draw_heads(numbers, run, focus, sublayers)
    else:
        _keep_measuring_in_turn([numbers], tried)
        _DRAWN[kind](numbers, run, focus)


def _keep_measuring_in_turn(measured: Sequence[PartNumbers], tried: str) -> None:
    """Measure the first that is not complete, in one bar; the next begins in the next rerun of the page."""
    now = next((each for each in measured if not each.growing.is_complete), measured[-1])
    keep_measuring("whatif_effects", now.identity, now.growing, now.measure, tried=tried)
    if now is not measured[-1] and now.growing.is_complete:
        ask_again("whatif_effects_next")


def _find_numbers(setup: Setup, parts: SweepKey, target: str, run: Run) -> PartNumbers:
    """What is to be measured; where that cannot be, the sentence's vector, and a sentence that says why."""
    if target == "similarity":
        others = [each for each in range(len(setup.text.sentences)) if each != setup.sentence]
        if others:
            return part_numbers.numbers_on_similarity(setup.untouched_key, parts, choose_other(setup, others), run)
        st.info("Your text has one sentence. With a second one, on a line of its own, this shows their similarity.")
    if target == "right answers":
        if setup.trained_network is None:
            st.info(
                "Right answers are measured on a network that was trained on the Training page, once its weights are "
                "chosen in the sidebar. This is the effect on the sentence's vector."
            )
        elif parts.kind not in ("heads", "sublayers"):
            st.info(
                "Validation sequences have tokens of their own, so that right answers are measured for heads and "
                "sublayers alone. This is the effect on the sentence's vector."
            )
        else:
            if setup.trained_network.task.has_decoder:
                st.caption("Parts of the encoder; the decoder is given the right beginning of each answer.")
            return part_numbers.numbers_on_answers(setup.untouched_key, parts.kind)
    return part_numbers.numbers_on_vector(
        setup.untouched_key, parts, instead_of="" if target == "sentence vector" else target
    )


_DRAWN: dict[PartKind, Callable[[PartNumbers, Run, Focus], None]] = {
    "sublayers": part_charts.draw_sublayers,
    "pairs of one head": part_charts.draw_pairs,
    "hidden tokens": part_charts.draw_hidden,
}
