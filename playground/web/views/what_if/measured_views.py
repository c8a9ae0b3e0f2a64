"""The views whose numbers take long: which parts matter, where a difference sits, and how many heads can go."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import streamlit as st

from playground.analysis import sentence_pairs
from playground.analysis.effects.sweeps import Order, list_pairs, order_by_effect, pruned_sizes
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.text import Batch
from playground.text.wording import join_words
from playground.views.what_if.parts import PARTS, PartKind, Parts
from playground.views.what_if.patching import Patches, show_patches
from playground.views.what_if.pruning import Pruning, show_pruning
from playground.web.choices import widgets
from playground.web.choices.focus import move_focus
from playground.web.choices.setup import Setup, current_setup, note_focus_text
from playground.web.choices.shortcuts import replace_text
from playground.web.components.without_picture import ask_again
from playground.web.session import caches
from playground.web.session.caches import TextKey
from playground.web.shared.renderer import WIDGETS, read_options, render
from playground.web.views.what_if import measurements
from playground.web.views.what_if.make_change import offer_changes
from playground.web.views.what_if.measurements import Measurement, SweepKey
from playground.web.views.what_if.measuring import keep_measuring

WIDGETS["change_buttons"] = offer_changes

PARTS_HELP = (
    "heads: one head gathers nothing. sublayers: attention or feed-forward adds nothing. pairs of one head: one token "
    "does not attend to one other. hidden tokens: in one layer, no other token attends to this one."
)
ON_HELP = (
    "sentence vector: how far it moves. similarity: to another sentence of your text. right answers: of a network that "
    "was trained here, on its validation set."
)
LEFT_HELP = (
    "similarity: of the sentence's vector to the untouched one. right answers: of a network that was trained here, on "
    "its validation set."
)

_ADDED = "_what_if_added"
"""Session key that is there after a press, until the whole page has followed: the text is drawn outside of the view."""

_FULL = "Your text has no room for further sentences."


def draw_parts(run: Run, focus: Focus) -> None:
    """The choice of parts, and of what their absence is measured on; the map, and what is read off it."""
    setup = current_setup()
    left, right = st.columns(2, gap="medium")
    with left:
        kind = cast(PartKind, widgets.choice("whatif_parts", "Switch off, one at a time", help_text=PARTS_HELP))
    with right:
        target = widgets.choice("whatif_on", "Measured on", help_text=ON_HELP)
    parts = SweepKey(kind)
    if kind == "pairs of one head":
        parts = SweepKey(kind, focus.layer, focus.head)
        if not list_pairs(run):
            st.info("No token has a second key here, so that no pair can be cut.")
            return
    measure = _choose_measure(setup, kind, target, run)
    measured = [measure(parts)]
    if kind == "heads":
        measured.append(measure(SweepKey("sublayers")))
    _keep_measuring_in_turn(
        measured, f"{len(measured[0].effects().values):,} {'pairs' if kind == 'pairs of one head' else kind}"
    )
    scene = Scene(Parts(run, *(each.effects() for each in measured)), focus)
    render(PARTS[kind](scene, {}), scene)


def _keep_measuring_in_turn(measured: Sequence[Measurement], tried: str) -> None:
    """Measure the first that is not complete, in one bar; the next begins in the next rerun of the page."""
    now = next((each for each in measured if not each.growing.is_complete), measured[-1])
    keep_measuring("whatif_effects", now.identity, now.growing, now.measure, tried=tried)
    if now is not measured[-1] and now.growing.is_complete:
        ask_again("whatif_effects_next")


def _choose_measure(setup: Setup, kind: PartKind, target: str, run: Run) -> Callable[[SweepKey], Measurement]:
    """What measures parts; where that cannot be, of the sentence's vector, and a sentence that says why."""
    key = setup.untouched_key
    if target == "similarity":
        others = [each for each in range(len(setup.text.sentences)) if each != setup.sentence]
        if others:
            other = _choose_other(setup, others)
            return lambda parts: measurements.measure_on_similarity(key, parts, other, run)
        st.info("Your text has one sentence. With a second one, on a line of its own, this shows their similarity.")
    if target == "right answers":
        if setup.trained_network is None:
            st.info(_EXPLAIN_ANSWERS + "This is the effect on the sentence's vector.")
        elif kind not in ("heads", "sublayers"):
            st.info(
                "Validation sequences have tokens of their own, so that right answers are measured for heads and "
                "sublayers alone. This is the effect on the sentence's vector."
            )
        else:
            if setup.trained_network.task.has_decoder:
                st.caption("Parts of the encoder; the decoder is given the right beginning of each answer.")
            return lambda parts: measurements.measure_on_answers(key, cast(PartKind, parts.kind))
    instead_of = "" if target == "sentence vector" else target
    return lambda parts: measurements.measure_on_vector(key, parts, instead_of)


_EXPLAIN_ANSWERS = (
    "Right answers are measured on a network that was trained on the Training page, once its weights are chosen in the "
    "sidebar. "
)


def _choose_other(setup: Setup, fitting: Sequence[int]) -> int:
    """Draw the slider of the other sentence, and that sentence; returns it, counted from 0.

    `fitting` are the sentences that can be it, one at least; where the chosen one cannot, the next that can is, and the
    page says so.
    """
    sentences, instead = setup.text.sentences, ""
    asked = other = widgets.whole("whatif_other", "The other sentence", high=len(sentences)) - 1
    if asked not in fitting:
        other = min(fitting, key=lambda each: ((each - asked) % len(sentences), each))
        possible = join_words([str(each + 1) for each in fitting])
        instead = f", as sentence {asked + 1} cannot be it. Possible here: {possible}."
    st.caption(f"Sentence {other + 1}: “{escape_markdown(sentences[other])}”{instead}")
    return other


def draw_pruning(run: Run, focus: Focus) -> None:
    """The slider of how many heads go, the curves, what that saves, and the button that takes them out."""
    setup = current_setup()
    target = widgets.choice("whatif_left", "Measured by", help_text=LEFT_HELP)
    on_answers = target == "right answers" and setup.trained_network is not None
    if target == "right answers" and not on_answers:
        st.info(_EXPLAIN_ANSWERS + "This is what is left of the sentence's vector.")
    key = setup.untouched_key
    heads = (
        measurements.measure_on_answers(key, "heads")
        if on_answers
        else measurements.measure_on_vector(key, SweepKey("heads"))
    )
    sizes = pruned_sizes(run.config)
    widgets.whole("whatif_pruned", "Heads taken out", high=sizes[-1], step=sizes.step)
    effects = heads.effects().values.reshape(run.config.n_layers, run.config.n_heads)
    if not heads.growing.is_complete:
        st.caption("First, each head is switched off alone: the order in which heads go follows from that.")
        keep_measuring("whatif_effects", heads.identity, heads.growing, heads.measure, tried=f"{effects.size:,} heads")
        if heads.growing.is_complete:
            ask_again("whatif_order_again")  # the curves are measured from the next run on, in the place of this bar
        return
    order = order_by_effect(-effects if on_answers else effects)
    scene = Scene((_prune_by_answers if on_answers else _prune_by_similarity)(setup, run, order), focus)
    render(show_pruning(scene, read_options("whatif")), scene)


def _prune_by_similarity(setup: Setup, run: Run, order: Order) -> Pruning:
    key = (setup.untouched_key, SweepKey("pruning", order=order))
    growing = measurements.sweep_numbers(*key)
    measure = partial(measurements.measure_rows, *key)
    keep_measuring("whatif_pruning", key, growing, measure, tried=f"{len(growing.numbers):,} sets of heads")
    n = growing.numbers.shape[1]
    whose = "this sentence's vector" if n == 1 else f"the vectors of the text's {n} sentences, a mean"
    return Pruning(
        run,
        order,
        measurements.by_order(growing.numbers.mean(axis=1), setup.config),
        "similarity to the untouched vector",
        ".3f",
        f"The similarity is the cosine between the vector without these heads and the untouched one, of {whose}. Heads "
        f"are sorted by their effect on sentence {setup.sentence + 1}",
    )


def _prune_by_answers(setup: Setup, run: Run, order: Order) -> Pruning:
    weights, removals = setup.weights, measurements.list_removals(order, setup.config)
    growing = measurements.task_scores(weights, f"pruning {order}", len(removals))
    measure = partial(measurements.measure_variants, weights, removals)
    tried = f"{len(removals):,} sets of heads"
    keep_measuring("whatif_pruning", (weights, order), growing, measure, tried=tried)
    return Pruning(
        run,
        order,
        measurements.by_order(growing.numbers[:, measurements.ACCURACY], setup.config),
        "right answers",
        ".1%",
        f"Right answers: the share of asked positions in {len(measurements.validation_sequences(weights)):,} "
        "validation sequences. Heads are sorted by what the probability of the right answer loses without each, on "
        "the same sequences",
    )


def draw_patches(run: Run, focus: Focus) -> None:
    """The other sentence, the map of places, and what makes a pair of sentences."""
    setup = current_setup()
    partners = sentence_pairs.find_partners(setup.batch, setup.sentence)
    if partners:
        source = _choose_other(setup, partners)
        scene = Scene(_patch(setup, run, source), focus)
        render(show_patches(scene, {}), scene)
    else:
        st.info(
            "A patch needs a second sentence with as many tokens as this one, and at least one other token. Your text "
            "has none: add one yourself, or press a button."
        )
    _offer_pairs(setup, setup.batch, focus)


def _patch(setup: Setup, run: Run, source: int) -> Patches:
    """The shares of every place by now, measured further; raises as `sweep_numbers`."""
    key = (setup.untouched_key, SweepKey("patches", source=source))
    growing = measurements.sweep_numbers(*key)
    measure = partial(measurements.measure_rows, *key)
    keep_measuring("whatif_patches", key, growing, measure, tried=f"{len(growing.numbers):,} places")
    shares = growing.numbers.reshape(run.config.n_layers + 1, -1)
    changed = sentence_pairs.changed_tokens(setup.batch, setup.sentence, source)
    return Patches(run, shares, setup.sentence, source, setup.batch.tokens[source], changed)


def _offer_pairs(setup: Setup, batch: Batch, focus: Focus) -> None:
    """A button for a copy of the sentence with the focused word changed, and one for an example of two sentences."""
    if st.session_state.pop(_ADDED, False):
        st.rerun()
    n_sentences = len(setup.text.sentences)
    encode = partial(_encode, setup.text_key)
    corrupted = sentence_pairs.corrupt_word(encode, batch, setup.sentence, focus.query)
    example = sentence_pairs.find_example(encode)
    with st.container(key="whatif_pairs", horizontal=True):
        _offer_pair(
            "Copy this sentence with another word",
            "whatif_corrupt",
            setup,
            [] if corrupted is None else [corrupted.sentence],
            other=setup.sentence,
            query=corrupted.token if corrupted else 0,
            missing="No other word fits at the chosen query; choose the token of a word.",
        )
        _offer_pair(
            "Add an example pair",
            "whatif_example",
            setup,
            example or [],
            other=n_sentences,
            query=sentence_pairs.changed_tokens(encode(example), 0, 1)[0] if example else 0,
            missing="In no example pair do both sentences have as many tokens by this tokenizer.",
        )


def _offer_pair(
    label: str, key: str, setup: Setup, added: Sequence[str], *, other: int, query: int, missing: str
) -> None:
    """A button that adds sentences to the text, and looks at the last of them beside the sentence `other`."""
    n_sentences = len(setup.text.sentences)
    text = sentence_pairs.append_sentences(setup["text"], n_sentences, added) if added else None
    quoted = " and ".join(f"“{escape_markdown(sentence)}”" for sentence in added)
    reason = missing if not added else _FULL
    st.button(
        label,
        key=key,
        icon=":material/playlist_add:",
        disabled=text is None,
        help=reason if text is None else f"Adds {quoted} to your text, and looks at the last sentence.",
        on_click=_look_at_last,
        args=[text, n_sentences + len(added), other + 1, query],
    )


def _encode(key: TextKey, sentences: Sequence[str]) -> Batch:
    """Sentences as the key's tokenizer cuts them: a vocabulary of the text's own words is made of theirs."""
    return caches.tokenizer(replace(key, sentences=tuple(sentences))).encode_batch(list(sentences), key.max_tokens)


def _look_at_last(text: str, sentence: int, other: int, query: int) -> None:
    replace_text(text)
    st.session_state.update({"sentence": sentence, "whatif_other": other, _ADDED: True})
    move_focus(query=query)
    note_focus_text(text)
