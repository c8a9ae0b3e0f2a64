"""The page What if: the focus, and the view of the changes, or of the model without them, that the visitor chooses."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from playground.analysis import sentences
from playground.analysis.sentences import sentence_vector
from playground.analysis.sweeps import cosines, list_pairs, order_by_effect, pruned_sizes
from playground.charts.chart import Item, Panel, Paragraph, Widget
from playground.charts.names import escape_markdown, shortened
from playground.charts.scene import Scene
from playground.errors import TooLargeError
from playground.language.text import IDS
from playground.link.lab import Lab
from playground.link.opening import Focus
from playground.link.state import TextKey
from playground.runs.encoder_run import Run
from playground.text import Batch
from playground.views.what_if.followed import Followed, find_verdict, follow, show_followed
from playground.views.what_if.parts import PARTS, Parts, Pruning, Target, show_pruning
from playground.views.what_if.patching import Patches, show_patches
from playground.web.choices import widgets
from playground.web.choices.changes import switch_changes
from playground.web.choices.focus import move_focus
from playground.web.choices.setup import current_setup, current_value, note_focus_text, trained_network
from playground.web.choices.shortcuts import choose_values
from playground.web.components.without_picture import ask_again
from playground.web.session import answers, caches
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import WIDGETS, draw_focus, read_options, render
from playground.web.views.what_if.make_change import draw_change_maker, draw_first_changes, offer_changes
from playground.web.views.what_if.measuring import (
    SweepKey,
    measure,
    score_changes,
    sweep_numbers,
    text_vectors,
    validation_sequences,
)
from playground.words import say

WIDGETS |= {"change_buttons": offer_changes, "change_maker": draw_change_maker}

IN_EVERY_SEQUENCE = ("zero", "mean", "off")
"""Kinds of changes that name no token, and so mean the same in every sequence."""

_ADDED = "_what_if_added"
"""Session key that is there after a press, until the whole page has followed: the text is drawn outside of the view."""


@fragment
def explore_changes() -> None:
    """The focus, and the chosen view of the page."""
    run = panels.shown_run(changed=current_value("whatif_view") == "what followed")
    focus, lab = draw_focus(run), current_setup()
    view = widgets.choice("whatif_view", say("what_if", "view"))
    with panels.explain_errors():
        if view == "what followed":
            draw_followed(lab, run, focus)
            return
        if lab.fitted_changes.applied:
            st.caption(say("what_if", "without-changes"))
        (draw_parts if view == "which parts matter" else draw_patches)(lab.without_changes, run, focus)


def draw_followed(lab: Lab, run: Run, focus: Focus) -> None:
    """Buttons that make changes, and how far the changed run is from the untouched one."""
    untouched, followed = lab.without_changes, follow(lab)
    with_heads = bool(run.interventions)
    try:
        heads = sweep_numbers(untouched, SweepKey("heads")) if with_heads else None
    except TooLargeError:
        heads = None
    if heads is not None and heads.is_complete:
        effects = heads.numbers[:, 0].reshape(run.config.n_layers, run.config.n_heads)
        followed = replace(followed, heads=effects)
    case, numbers = find_verdict(followed)
    draw_first_changes(run, focus, say("what_if", "made", moved=numbers["moved"]) * (with_heads and case != "lost"))
    maker = Widget("change_maker", {"run": run, "focus": focus})
    more = (maker,) if current_value("whatif_more") else ()
    scene = Scene(followed, focus)
    render([Panel("whatif_more", say("what_if", "more"), more, icon=":material/tune:")], scene)
    measuring = st.container()
    render(show_followed(scene, read_options("whatif")), scene)
    if with_heads and trained_network(lab) is not None:
        render(_read_answers(lab, followed))
    if heads is not None and not heads.is_complete:  # last: whoever has made a change sees it first
        with measuring:
            measure("whatif_effects", untouched, SweepKey("heads"))
            if heads.is_complete:
                ask_again("whatif_verdict_again")  # the next run compares


def _read_answers(lab: Lab, followed: Followed) -> list[Item]:
    """The trained network's share of right answers before and after, over sequences that it has not learnt from."""
    if not all(each.kind in IN_EVERY_SEQUENCE for each in followed.run.interventions):
        return [Paragraph(say("what_if", "answers.none"), "caption")]
    (before, old), (after, new) = score_changes(lab).tolist()
    n = len(validation_sequences(lab))
    told = {"before": before, "after": after, "probability_before": old, "probability_after": new}
    return [Paragraph(say("what_if", "answers", sequences=n, **told))]


def draw_parts(lab: Lab, run: Run, focus: Focus) -> None:
    """The choice of parts, and of what their absence is measured on; the map, and what is read off it."""
    left, right = st.columns(2, gap="medium")
    with left:
        kind = widgets.choice("whatif_parts", say("what_if", "parts"))
    with right:
        asked = widgets.choice("whatif_on", say("what_if", "on"), help_text=say("what_if", "on.help"))
    if kind == "pairs of one head" and not list_pairs(run, focus.layer):
        st.info(say("what_if", "needs-pairs"))
        return
    target, numbers = _find_target(lab, run, kind, asked)
    sweep = SweepKey(kind, focus.layer, focus.head) if kind == "pairs of one head" else SweepKey(kind)
    if kind == "heads taken out":
        _draw_pruning(lab, run, focus, target)
        return
    parts = _measure_parts(lab, run, sweep, target, numbers)
    scene = Scene(parts, focus)
    render(PARTS[kind](scene, read_options("whatif")), scene)


def _find_target(lab: Lab, run: Run, kind: str, asked: str) -> tuple[Target, dict[str, Any]]:
    """What effects are measured on; where that cannot be, the sentence's vector, and a sentence that says why."""
    is_pruning = kind == "heads taken out"
    if asked == "similarity" and not is_pruning:
        others = [each for each in range(len(lab.text.sentences)) if each != lab.sentence]
        if others:
            other = _choose_other(lab, others)
            before = cosines(sentence_vector(run)[None], text_vectors(lab)[other : other + 1])
            return "similarity", {"column": 1 + other, "other": other + 1, "before": float(before[0, 0])}
        st.info(say("what_if", "needs-sentence"))
    if asked == "right answers":
        hidden = answers.hidden_word(lab.run_key)
        if hidden is not None and hidden.word and not is_pruning:
            before = answers.fill_in(lab.run_key)[-1, IDS[hidden.word]]
            return "word", {"column": -1, "word": hidden.word, "before": float(before)}
        if trained_network(lab) is not None and kind in ("heads", "sublayers", "heads taken out"):
            return "answers", {"sequences": len(validation_sequences(lab))}
        st.info(say("what_if", "needs-answers"))
    return "vector", {}


def _measure_parts(lab: Lab, run: Run, sweep: SweepKey, target: Target, numbers: dict[str, Any]) -> Parts:
    """The effects of parts by now."""
    table = measure("whatif_effects", lab, sweep, on_answers=target == "answers").numbers
    if target == "answers":
        before = table[0, 1]
        return Parts(run, table[1:, 1] - before, target, {**numbers, "before": float(before)})
    effects = table[:, numbers.get("column", 0)] - table.dtype.type(numbers.get("before", 0))
    return Parts(run, effects, target, numbers)


def _draw_pruning(lab: Lab, run: Run, focus: Focus, target: Target) -> None:
    """The slider of how many heads go; once each alone is measured, the curves, what that saves, and the button."""
    sizes, on_answers = pruned_sizes(run.config), target == "answers"
    widgets.whole("whatif_pruned", say("what_if", "pruned"), high=sizes[-1], step=sizes.step)
    alone = _measure_parts(lab, run, SweepKey("heads"), target, {}).effects
    order = order_by_effect(-alone if on_answers else alone)
    if not np.isfinite(alone).all():  # the order follows from all of them
        return
    table = measure("whatif_pruning", lab, SweepKey("heads taken out", order=order), on_answers=on_answers).numbers
    left = table[1:, 0] if on_answers else table[:, 0]
    scene = Scene(Pruning(run, order, left.reshape(-1, len(sizes)), target), focus)
    render(show_pruning(scene, read_options("whatif")), scene)


def _choose_other(lab: Lab, fitting: Sequence[int]) -> int:
    """Draw the slider of the other sentence, unless there is one alone, and that sentence; returns it, from 0.

    `fitting` are the sentences that can be it, one at least; where the chosen one cannot, the next that can is.
    """
    sentences, other = lab.text.sentences, fitting[0]
    if len(fitting) > 1:
        asked = widgets.whole("whatif_other", say("what_if", "other"), high=len(sentences)) - 1
        other = min(fitting, key=lambda each: ((each - asked) % len(sentences), each))
    st.caption(say("what_if", "other.shown", other=other + 1, text=escape_markdown(sentences[other])))
    return other


def draw_patches(lab: Lab, run: Run, focus: Focus) -> None:
    """The other sentence, the map of places, and what makes a pair of sentences."""
    partners = sentences.find_partners(lab.batch, lab.sentence)
    if partners:
        source = _choose_other(lab, partners)
        numbers = measure("whatif_patches", lab, SweepKey("patches", source=source)).numbers
        shares = numbers.reshape(run.config.n_layers + 1, -1)
        changed = sentences.changed_tokens(lab.batch, lab.sentence, source)
        scene = Scene(Patches(run, shares, source, lab.batch.tokens[source], changed), focus)
        render(show_patches(scene, {}), scene)
    else:
        render([Paragraph(say("what_if", "patch-needs"), "answer")])
    _offer_copy(lab, focus)


def _offer_copy(lab: Lab, focus: Focus) -> None:
    """A button for a copy of the sentence with the focused word changed, which is then looked at."""
    if st.session_state.pop(_ADDED, False):
        st.rerun()
    copied = sentences.corrupt_word(partial(_encode, lab.text_key), lab.batch, lab.sentence, focus.query)
    n, text, label = len(lab.text.sentences), None, say("what_if", "copy.none")
    help_text = say("what_if", "copy.missing")
    if copied is not None:
        old, new = (escape_markdown(shortened(word)) for word in copied[2:])
        label = say("what_if", "copy", old=f"“{old}”", new=f"“{new}”")
        text = sentences.append_sentences(lab["text"], n, [copied[0]])
        help_text = say("what_if", "copy.full") if text is None else say("what_if", "copy.help")
    st.button(
        label,
        key="whatif_corrupt",
        icon=":material/playlist_add:",
        disabled=text is None,
        help=help_text,
        on_click=_look_at_last,
        args=[text, n + 1, lab.sentence + 1, copied[1] if copied else 0],
    )


def _encode(key: TextKey, sentences: Sequence[str]) -> Batch:
    """Sentences as the key's tokenizer cuts them: a vocabulary of the text's own words is made of theirs."""
    return caches.tokenizer(replace(key, sentences=tuple(sentences))).encode_batch(list(sentences), key.max_tokens)


def _look_at_last(text: str, sentence: int, other: int, query: int) -> None:
    # A change that names a token by its position would mean another one in another sentence.
    switch_changes([change for change, is_on in current_setup().changes if is_on and change.names_no_token])
    choose_values({"text": text, "sentence": sentence, "whatif_other": other})
    st.session_state[_ADDED] = True
    move_focus(query=query)
    note_focus_text(text)


def draw_how_to_read() -> None:
    """How to read effects, patterns and patches, with the papers that argue about it, to be opened."""
    with st.container(key="whatif_how_to_read"), st.expander(say("what_if", "how-to-read")):
        for each in ("effect", "zero", "pattern", "patch"):
            st.markdown(say("what_if", f"reading-{each}"))
