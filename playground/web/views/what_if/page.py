"""The page What if: the focus, and the view of the changes, or of the model without them, that the visitor chooses.

A view of the model without them measures every part, place or number of heads, and takes long.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
import streamlit as st

from playground.analysis import sentence_pairs
from playground.analysis.sentences import Pooling, sentence_vector
from playground.analysis.streams import cosine_between_tokens
from playground.analysis.sweeps import Order, list_pairs, order_by_effect, pruned_sizes
from playground.charts.chart import Panel, Paragraph, Widget
from playground.charts.markdown import escape_markdown
from playground.charts.names import shortened, token_names
from playground.charts.scene import Scene
from playground.errors import PlaygroundError, TooLargeError
from playground.link.opening import Focus
from playground.link.state import RunKey, TextKey, is_random
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text import Batch
from playground.text.wording import join_words
from playground.training.answers import answer_probabilities, right_answers
from playground.training.network import Tagger
from playground.training.tasks.task import IGNORE
from playground.views.change_names import note_set_weights
from playground.views.what_if.followed import (
    Answers,
    Followed,
    answer_what_followed,
    show_answers,
    show_details,
    show_head,
    show_most_changed,
)
from playground.views.what_if.parts import PARTS, PartKind, Parts
from playground.views.what_if.patching import Patches, show_patches, show_what_a_patch_shows
from playground.views.what_if.pruning import Pruning, show_pruning
from playground.views.what_if.verdict import HeadEffects, say_how_far
from playground.web.choices import widgets
from playground.web.choices.changes import switch_changes
from playground.web.choices.focus import move_focus
from playground.web.choices.setup import Setup, current_setup, current_value, note_focus_text, trained_network
from playground.web.choices.shortcuts import choose_values
from playground.web.components.without_picture import ask_again
from playground.web.session import caches, trained_slot
from playground.web.session.answers import hidden_word
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights
from playground.web.shared import panels
from playground.web.shared.change_chips import scroll_on_arrival
from playground.web.shared.focus_line import draw_focus
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import WIDGETS, read_options, render
from playground.web.views.what_if import measurements
from playground.web.views.what_if.make_change import draw_change_maker, draw_first_changes, offer_changes
from playground.web.views.what_if.measurements import MeasuredParts, SweepKey, keep_measuring

WIDGETS |= {"change_buttons": offer_changes, "change_maker": draw_change_maker}

IN_EVERY_SEQUENCE = ("zero", "mean", "off")
"""Kinds of changes that name no token, and so mean the same in every sequence."""

PARTS_TOLD: Mapping[PartKind, str] = {
    "heads": "Each head in turn gathers nothing.",
    "sublayers": "A sublayer is one layer's attention or its feed-forward network: each in turn adds nothing.",
    "pairs of one head": "A pair is a token that asks and one that it looks at. Each in turn is cut, in one head.",
    "hidden tokens": "Each token in turn is hidden from all others, in one layer.",
}
ON_HELP = (
    "sentence vector: how far it moves. similarity: to another sentence of your text. right answers: of a network that "
    "was trained here, on its validation set."
)
LEFT_HELP = (
    "similarity: of the sentence's vector to the untouched one. right answers: of a network that was trained here, on "
    "its validation set."
)

_EXPLAIN_ANSWERS = (
    "Right answers are measured on a network that was trained on the Training page, once its weights are chosen in the "
    "sidebar. "
)

_ADDED = "_what_if_added"
"""Session key that is there after a press, until the whole page has followed: the text is drawn outside of the view."""

_WHAT_WAS_ADDED = "_what_if_what_was_added"
"""Session key of the text and the sentence that such a press has brought, and what a page says of them."""

_FULL = "Your text has no room for further sentences."

HOW_TO_READ = """
**An effect says what the rest of the model does without a part**, in this sentence, by this measure. Many heads can be
taken out at little cost ([Michel et al. 2019](https://arxiv.org/abs/1905.10650);
[Voita et al. 2019](https://arxiv.org/abs/1905.09418)). That is no proof that they do nothing. Where two parts do the
same, each alone seems useless, and without both the model fails. *Take heads out* leaves out many at once and shows it.

**Zero is an unusual value.** What comes after a head has hardly ever read it in training. Some of the effect may be
that surprise, rather than what the head carried. A head's mean over the tokens is closer to what it usually writes.

**A pattern alone explains little.** Very different attention weights can lead to the same output
([Jain & Wallace 2019](https://arxiv.org/abs/1902.10186)). That does not make weights meaningless: what counts as an
explanation has to be said first, and then tested
([Wiegreffe & Pinter 2019](https://arxiv.org/abs/1908.04626)). To change a weight and look at what follows is one test.

**A patch shows where a difference can be brought in**, not where the model first needs it. The shares of several places
need not add up to 100%: the vector of one token already holds a part of what another's holds.
"""


@fragment
def explore_changes() -> None:
    """The focus, and the chosen view of the page."""
    run = panels.shown_run(changed=current_value("whatif_view") == "what followed")
    focus = draw_focus(run)
    view = widgets.choice("whatif_view", "Look at")
    if view == "what followed":
        heads = _find_measured_heads(current_setup()) if run.interventions else None
        draw_first_changes(run, focus, _say_how_far(run, heads) if run.interventions else "")
        _draw_more_kinds(run, focus)
        _draw_followed(run, focus, heads)
        return
    if current_setup().fitted_changes.applied:
        st.caption("This view leaves out what the chips above change: it looks at the model without your changes.")
    with panels.explain_errors():
        MEASURED[view](run, focus)


def _draw_more_kinds(run: Run, focus: Focus) -> None:
    """The panel in which a change of any kind is put together."""
    maker = Widget("change_maker", {"run": run, "focus": focus})
    more = (maker,) if current_value("whatif_more") else ()
    render([Panel("whatif_more", "More kinds of change", more, icon=":material/tune:")], Scene(run, focus))


def _say_how_far(run: Run, heads: MeasuredParts | None) -> str:
    """How far a changed run has moved the sentence, in a few words."""
    with suppress(PlaygroundError):  # what followed says what is wrong
        return say_how_far(caches.run_sentence(current_setup().untouched_key), run, _read_effects(run, heads))
    return "What followed cannot be computed."


def _draw_followed(run: Run, focus: Focus, heads: MeasuredParts | None) -> None:
    """How far the changed run is from the untouched one: the sentence, its tokens' vectors, and attention.

    `heads` are the effects of all heads, to compare with, as far as they are measured.
    """
    setup, options = current_setup(), read_options("whatif")
    scroll_on_arrival()
    if not run.interventions:
        render([Paragraph(_say_what_to_try(setup, focus), "answer"), *show_head(run, focus)], Scene(run, focus))
        return
    with panels.explain_errors():
        scene = Scene(_find_followed(setup, run, heads), focus)
        render([answer_what_followed(scene)], scene)
    measuring = st.container()
    with st.container(key="followed"):
        render(show_most_changed(scene, options), scene)
        if trained_network(setup) is not None:
            st.markdown("**What became of its answers?**")
            with panels.explain_errors():
                _draw_validation_scores(setup, run)
                _draw_answers(setup, run, scene.now.untouched, focus)
        render(show_details(scene, options), scene)
    if heads is not None and not heads.growing.is_complete:  # last: whoever has made a change sees it first
        with measuring:
            keep_measuring("whatif_effects", heads, tried=f"{len(heads.growing.numbers):,} heads", is_told=True)
            if heads.growing.is_complete:
                ask_again("whatif_verdict_again")  # the next run compares


def _find_measured_heads(setup: Setup) -> MeasuredParts | None:
    """The effect of every head on the sentence's vector, as far as it is measured; None where heads are too many."""
    try:
        return measurements.measure_on_vector(setup.untouched_key, SweepKey("heads"))
    except TooLargeError:
        return None


def _read_effects(run: Run, heads: MeasuredParts | None) -> HeadEffects | None:
    """What is measured of every head by now; None where they are too many."""
    if heads is None:
        return None
    shape = (run.config.n_layers, run.config.n_heads)
    return HeadEffects(heads.effects().values.reshape(shape), heads.growing.n_rows_measured)


def _say_what_to_try(setup: Setup, focus: Focus) -> str:
    """What to do where nothing is changed, or why no change applies."""
    n_unfit = len(setup.fitted_changes.reasons)
    if n_unfit:
        if n_unfit == 1:
            return "Your change does not fit this sentence or this model, so nothing has followed. Its chip says why."
        return "Your changes do not fit this sentence or this model, so nothing has followed. Their chips say why."
    if setup.changes:
        return "Your changes are switched off, so nothing has followed. Press a chip above to make it again."
    return (
        f"Nothing is changed yet. How far does the sentence move without layer {focus.layer}, head {focus.head}? "
        "Switch it off below: the answer stands here, and beside the button."
    )


def _find_followed(setup: Setup, run: Run, heads: MeasuredParts | None) -> Followed:
    """What followed from the changes that made this run; raises as `caches.run_sentence`."""

    def similarities(pooling: Pooling) -> tuple[Array, Array]:
        return _compare_all(setup, pooling, changed=False), _compare_all(setup, pooling, changed=True)

    return Followed(
        run,
        caches.run_sentence(setup.untouched_key),
        setup.sentence,
        len(setup.text.sentences),
        similarities,
        pooled_in_training=setup.weights == "minilm",
        causal=setup["causal"],
        is_random=is_random(setup.weights),
        heads=_read_effects(run, heads),
        notes=partial(note_set_weights, run),
    )


def _compare_all(setup: Setup, pooling: Pooling, *, changed: bool) -> Array:
    """The cosine between every two sentences' vectors: (N, N); raises as `caches.run_sentence`."""
    vectors = []
    for sentence in range(len(setup.text.sentences)):
        key = setup.untouched_key._replace(sentence=sentence)
        if changed:
            key = key._replace(interventions=setup.fit_changes(sentence).applied)
        vectors.append(_find_vector(key, pooling))
    return cosine_between_tokens(np.stack(vectors))


@cache_by_weights
def _find_vector(key: RunKey, pooling: Pooling) -> Array:
    """A sentence as one vector, (D,); raises as `caches.run_sentence`."""
    return sentence_vector(caches.compute_run(key), pooling)


def _draw_validation_scores(setup: Setup, run: Run) -> None:
    """The trained network's share of right answers before and after, over sequences that it has not learnt from."""
    if not all(each.kind in IN_EVERY_SEQUENCE for each in run.interventions):
        st.caption("Validation sequences have tokens of their own: only changes of heads and sublayers apply to them.")
        return
    n = len(measurements.validation_sequences(setup.weights))
    scores = measurements.changed_scores(setup.weights, run.interventions)
    (old, old_probability), (new, new_probability) = scores.tolist()
    trained = trained_network(setup)
    has_decoder = trained is not None and trained.task.has_decoder
    whose = " The decoder is given the right beginning of each." if has_decoder else ""
    st.markdown(
        f"Over {n:,} validation sequences, **{new:.1%}** of the answers are right, before the changes {old:.1%}. The "
        f"right answer has a probability of **{new_probability:.1%}**, before {old_probability:.1%}.{whose}"
    )


def _draw_answers(setup: Setup, run: Run, untouched: Run, focus: Focus) -> None:
    """What the trained network answers to this sentence, before and after; where it has no answer, why."""
    trained, batch, row = trained_slot.find_network(setup.weights), setup.batch, setup.sentence
    network = trained_slot.network_on_device(setup.weights)
    ids = batch.ids[row, : len(batch.tokens[row])].tolist()
    answers = right_answers(trained, ids, list(batch.unknown[row]))
    if not isinstance(network, Tagger) or answers is None:
        st.caption(
            "This network's task has no right answer for this sentence: a decoder answers, or the sentence is "
            "longer than those that it learnt from, or has symbols that it never saw."
        )
        return
    asked = [place for place, answer in enumerate(answers) if answer != IGNORE]
    if not asked:
        st.caption("Nothing is asked about a sentence of one token: no token follows.")
        return
    with services().turns.take():
        before, after = (
            answer_probabilities(network, each.arrays["final"][~each.padding])[asked] for each in (untouched, run)
        )
    names, right = token_names(run.tokens), [answers[place] for place in asked]
    scene = Scene(Answers(trained.labels, [names[place] for place in asked], right, before, after), focus)
    render(show_answers(scene, {}), scene)


def draw_parts(run: Run, focus: Focus) -> None:
    """The choice of parts, and of what their absence is measured on; the map, and what is read off it."""
    setup = current_setup()
    left, right = st.columns(2, gap="medium")
    with left:
        kind = cast(PartKind, widgets.choice("whatif_parts", "Switch off, one at a time"))
        st.caption(PARTS_TOLD[kind])
    with right:
        target = widgets.choice("whatif_on", "Measured on", help_text=ON_HELP)
    parts = SweepKey(kind)
    if kind == "pairs of one head":
        parts = SweepKey(kind, focus.layer, focus.head)
        if not list_pairs(run, focus.layer):
            st.info("No token has a second key here, so that no pair can be cut.")
            return
    measure = _choose_measure(setup, kind, target, run)
    measured = [measure(parts)]
    if kind == "heads" and current_value("whatif_spread"):
        measured.append(measure(SweepKey("sublayers")))
    _keep_measuring_in_turn(
        measured, f"{len(measured[0].effects().values):,} {'pairs' if kind == 'pairs of one head' else kind}"
    )
    scene = Scene(Parts(run, *(each.effects() for each in measured)), focus)
    render(PARTS[kind](scene, read_options("whatif")), scene)


def _keep_measuring_in_turn(measured: Sequence[MeasuredParts], tried: str) -> None:
    """Measure the first that is not complete, in one bar; the next begins in the next rerun of the page."""
    now = next((each for each in measured if not each.growing.is_complete), measured[-1])
    keep_measuring("whatif_effects", now, tried=tried)
    if now is not measured[-1] and now.growing.is_complete:
        ask_again("whatif_effects_next")


def _choose_measure(setup: Setup, kind: PartKind, target: str, run: Run) -> Callable[[SweepKey], MeasuredParts]:
    """What measures parts; where that cannot be, of the sentence's vector, and a sentence that says why."""
    key = setup.untouched_key
    if target == "similarity":
        others = [each for each in range(len(setup.text.sentences)) if each != setup.sentence]
        if others:
            other = _choose_other(setup, others)
            return lambda parts: measurements.measure_on_similarity(key, parts, other, run)
        st.info("Your text has one sentence. With a second one, on a line of its own, this shows their similarity.")
    if target == "right answers":
        hidden = hidden_word(key)
        if hidden is not None and hidden.word:
            return lambda parts: measurements.measure_on_hidden_word(key, parts, hidden.word)
        trained = trained_network(setup)
        if trained is None:
            st.info(_EXPLAIN_ANSWERS + "This is the effect on the sentence's vector.")
        elif kind not in ("heads", "sublayers"):
            st.info(
                "Validation sequences have tokens of their own, so that right answers are measured for heads and "
                "sublayers alone. This is the effect on the sentence's vector."
            )
        else:
            if trained.task.has_decoder:
                st.caption("Parts of the encoder; the decoder is given the right beginning of each answer.")
            return lambda parts: measurements.measure_on_answers(key, cast(PartKind, parts.kind))
    instead_of = "" if target == "sentence vector" else target
    return lambda parts: measurements.measure_on_vector(key, parts, instead_of)


def _choose_other(setup: Setup, fitting: Sequence[int]) -> int:
    """Draw the slider of the other sentence, unless there is one alone, and that sentence; returns it, from 0.

    `fitting` are the sentences that can be it, one at least; where the chosen one cannot, the next that can is, and the
    page says so.
    """
    sentences, instead = setup.text.sentences, ""
    if len(sentences) == 2:
        other = fitting[0]
        st.caption(f"The other sentence is sentence {other + 1}: “{escape_markdown(sentences[other])}”")
        return other
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
    on_answers = target == "right answers" and trained_network(setup) is not None
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
        keep_measuring("whatif_effects", heads, tried=f"{effects.size:,} heads")
        if heads.growing.is_complete:
            ask_again("whatif_order_again")  # the curves are measured from the next run on, in the place of this bar
        return
    order = order_by_effect(-effects if on_answers else effects)
    scene = Scene((_prune_by_answers if on_answers else _prune_by_similarity)(setup, run, order), focus)
    render(show_pruning(scene, read_options("whatif")), scene)


def _prune_by_similarity(setup: Setup, run: Run, order: Order) -> Pruning:
    removals = measurements.measure_sweep(setup.untouched_key, SweepKey("pruning", order=order))
    numbers = removals.growing.numbers
    keep_measuring("whatif_pruning", removals, tried=f"{len(numbers):,} sets of heads")
    n = numbers.shape[1]
    whose = "this sentence's vector" if n == 1 else f"the vectors of the text's {n} sentences, a mean"
    return Pruning(
        run,
        order,
        measurements.by_order(numbers.mean(axis=1), setup.config),
        "similarity to the untouched vector",
        ".3f",
        f"The similarity is the cosine between the vector without these heads and the untouched one, of {whose}. Heads "
        f"are sorted by their effect on sentence {setup.sentence + 1}",
    )


def _prune_by_answers(setup: Setup, run: Run, order: Order) -> Pruning:
    weights, variants = setup.weights, measurements.list_removals(order, setup.config)
    removals = measurements.measure_network(weights, f"pruning {order}", variants)
    keep_measuring("whatif_pruning", removals, tried=f"{len(variants):,} sets of heads")
    return Pruning(
        run,
        order,
        measurements.by_order(removals.growing.numbers[:, measurements.ACCURACY], setup.config),
        "right answers",
        ".1%",
        f"Right answers: the share of asked positions in {len(measurements.validation_sequences(weights)):,} "
        "validation sequences. Heads are sorted by what the probability of the right answer loses without each, on "
        "the same sequences",
    )


def draw_patches(run: Run, focus: Focus) -> None:
    """The other sentence, the map of places, and what makes a pair of sentences."""
    setup = current_setup()
    text, sentence, told = st.session_state.get(_WHAT_WAS_ADDED, ("", 0, ""))
    if (setup["text"], setup.sentence + 1) == (text, sentence):
        st.caption(told)
    partners = sentence_pairs.find_partners(setup.batch, setup.sentence)
    if partners:
        source = _choose_other(setup, partners)
        scene = Scene(_patch(setup, run, source), focus)
        render(show_patches(scene, {}), scene)
    else:
        render(show_what_a_patch_shows(run.n_real), Scene(run, focus))
    _offer_pairs(setup, setup.batch, focus)


def _patch(setup: Setup, run: Run, source: int) -> Patches:
    """The shares of every place by now, measured further; raises as `sweep_numbers`."""
    places = measurements.measure_sweep(setup.untouched_key, SweepKey("patches", source=source))
    numbers = places.growing.numbers
    keep_measuring("whatif_patches", places, tried=f"{len(numbers):,} places")
    shares = numbers.reshape(run.config.n_layers + 1, -1)
    changed = sentence_pairs.changed_tokens(setup.batch, setup.sentence, source)
    return Patches(run, shares, setup.sentence, source, setup.batch.tokens[source], changed)


def _offer_pairs(setup: Setup, batch: Batch, focus: Focus) -> None:
    """A button for a copy of the sentence with the focused word changed, and one for an example of two sentences."""
    if st.session_state.pop(_ADDED, False):
        st.rerun()
    encode = partial(_encode, setup.text_key)
    corrupted = sentence_pairs.corrupt_word(encode, batch, setup.sentence, focus.query)
    example = sentence_pairs.find_example(encode)
    n_sentences, copied = len(setup.text.sentences), "another word"
    if corrupted is not None:
        copied = f"“{escape_markdown(shortened(corrupted.new))}” for “{escape_markdown(shortened(corrupted.old))}”"
    with st.container(key="whatif_pairs", horizontal=True):
        _offer_pair(
            f"Copy this sentence with {copied}",
            "whatif_corrupt",
            setup,
            [] if corrupted is None else [corrupted.sentence],
            other=setup.sentence,
            query=corrupted.token if corrupted else 0,
            told=f"Sentence {n_sentences + 1}, which you look at now, is sentence {setup.sentence + 1} with {copied}.",
            missing="No other word fits at the chosen query; choose the token of a word.",
        )
        _offer_pair(
            "Add an example pair",
            "whatif_example",
            setup,
            example or [],
            other=n_sentences,
            query=sentence_pairs.changed_tokens(encode(example), 0, 1)[0] if example else 0,
            told=f"Sentences {n_sentences + 1} and {n_sentences + 2} are new; you look at the second of them now.",
            missing="In no example pair do both sentences have as many tokens by this tokenizer.",
        )


def _offer_pair(
    label: str, key: str, setup: Setup, added: Sequence[str], *, other: int, query: int, told: str, missing: str
) -> None:
    """A button that adds sentences to the text, and looks at the last of them beside the sentence `other`.

    `told` is said of it once it is pressed.
    """
    n_sentences = len(setup.text.sentences)
    text = sentence_pairs.append_sentences(setup["text"], n_sentences, added) if added else None
    quoted = " and ".join(f"“{escape_markdown(sentence)}”" for sentence in added)
    reason = missing if not added else _FULL
    off = ""
    if any(is_on and not change.names_no_token for change, is_on in setup.changes):
        told += " Changes that name a token were switched off: in another sentence they would mean another one."
        off = " Changes that name a token are switched off."
    st.button(
        label,
        key=key,
        icon=":material/playlist_add:",
        disabled=text is None,
        help=reason if text is None else f"Adds {quoted} to your text, and looks at the last sentence.{off}",
        on_click=_look_at_last,
        args=[text, n_sentences + len(added), other + 1, query, told],
    )


def _encode(key: TextKey, sentences: Sequence[str]) -> Batch:
    """Sentences as the key's tokenizer cuts them: a vocabulary of the text's own words is made of theirs."""
    return caches.tokenizer(replace(key, sentences=tuple(sentences))).encode_batch(list(sentences), key.max_tokens)


def _look_at_last(text: str, sentence: int, other: int, query: int, told: str) -> None:
    # A change that names a token by its position would mean another one in another sentence.
    switch_changes([change for change, is_on in current_setup().changes if is_on and change.names_no_token])
    choose_values({"text": text, "sentence": sentence, "whatif_other": other})
    st.session_state[_ADDED] = True
    st.session_state[_WHAT_WAS_ADDED] = (text, sentence, told)
    move_focus(query=query)
    note_focus_text(text)


MEASURED = {
    "which parts matter": draw_parts,
    "where the difference sits": draw_patches,
    "take heads out": draw_pruning,
}
"""By the other values of `whatif_view`."""


def draw_how_to_read() -> None:
    """How to read effects, patterns and patches, with the papers that argue about it, to be opened."""
    with st.container(key="whatif_how_to_read"), st.expander("How to read this, and what it does not prove"):
        st.markdown(HOW_TO_READ)
