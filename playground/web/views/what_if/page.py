"""The page What if: the focus, and the view of the changes, or of the model without them, that the visitor chooses."""

from functools import partial

import numpy as np
import streamlit as st

from playground.analysis.streams import cosine_between_tokens
from playground.analysis.vector_changes import Pooling, sentence_vector
from playground.charts.scene import Scene
from playground.figures.theme import token_names
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.training.after.answers import answer_probabilities, right_answers
from playground.training.network import Tagger
from playground.training.tasks.task import IGNORE
from playground.views.change_names import note_set_weights
from playground.views.what_if.followed import (
    Answers,
    Followed,
    show_answers,
    show_attention,
    show_sentences,
    show_tokens,
)
from playground.web.choices import widgets
from playground.web.choices.focus import current_focus
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches, trained_slot
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights
from playground.web.shared import panels
from playground.web.shared.change_chips import FOLLOWED, scroll_on_arrival
from playground.web.shared.focus_line import show_focus
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import read_options, render
from playground.web.views.what_if import measurements
from playground.web.views.what_if.make_change import draw_change_maker
from playground.web.views.what_if.measured_views import draw_parts, draw_patches, draw_pruning

IN_EVERY_SEQUENCE = ("zero", "mean", "off")
"""Kinds of changes that name no token, and so mean the same in every sequence."""


@fragment
def explore_changes() -> None:
    """The focus, and the chosen view of the page."""
    run = panels.shown_run()
    focus = show_focus(run)
    view = widgets.choice("whatif_view", "Look at")
    if view == "what followed":
        draw_change_maker(run, focus)
        _draw_followed(run, focus)
        return
    if current_setup().fitted_changes.applied:
        st.caption("This view looks at the model without your changes.")
    with panels.explain_errors():
        untouched = caches.run_sentence(current_setup().untouched_key)
        MEASURED[view](untouched, current_focus(untouched))


MEASURED = {
    "which parts matter": draw_parts,
    "where the difference sits": draw_patches,
    "take heads out": draw_pruning,
}
"""By the other values of `whatif_view`."""


def _draw_followed(run: Run, focus: Focus) -> None:
    """How far the changed run is from the untouched one: the sentence, its tokens' vectors, and attention."""
    setup, options = current_setup(), read_options("whatif")
    with st.container(key=FOLLOWED):
        scroll_on_arrival()
        if not run.interventions:
            st.caption(_why_nothing_followed(setup))
            return
        with panels.explain_errors():
            scene = Scene(_find_followed(setup, run), focus)
            st.header("What became of the sentence?")
            render(show_sentences(scene, options), scene)
    if setup.trained_network is not None:
        st.markdown("**What became of its answers?**")
        with panels.explain_errors():
            _draw_validation_scores(setup, run)
            _draw_answers(setup, run, scene.now.untouched, focus)
    st.header("How far has each token moved?")
    render(show_tokens(scene, options), scene)
    st.header("What became of attention?")
    render(show_attention(scene, options), scene)


def _why_nothing_followed(setup: Setup) -> str:
    """One sentence or two for a run without any change."""
    n_unfit = len(setup.fitted_changes.reasons)
    if n_unfit:
        whose = (
            "Your change cannot apply here; its chip" if n_unfit == 1 else "Your changes cannot apply here; their chips"
        )
        return f"{whose} below the heading {'says' if n_unfit == 1 else 'say'} why."
    if setup.changes:
        return (
            "Your changes are switched off, so nothing has followed. Press a chip below the heading to make it again."
        )
    return "Nothing is changed, so nothing has followed. Make a change above, and its effects stand here."


def _find_followed(setup: Setup, run: Run) -> Followed:
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
    has_decoder = setup.trained_network is not None and setup.trained_network.task.has_decoder
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
need not add up to 100 %: the vector of one token already holds a part of what another's holds.
"""


def draw_how_to_read() -> None:
    """How to read effects, patterns and patches, with the papers that argue about it, to be opened."""
    with st.container(key="whatif_how_to_read"), st.expander("How to read this, and what it does not prove"):
        st.markdown(HOW_TO_READ)
