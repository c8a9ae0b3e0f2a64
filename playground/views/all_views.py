"""Every page that is a view, by its path: what it shows, and what a link's scene of it is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeVar

from playground.analysis import sentences
from playground.analysis.sentences import LeftOutWords, Pooling, is_for_any_text, map_depths, sentence_similarity
from playground.charts.chart import Item, Options
from playground.charts.scene import Scene
from playground.limits import MAX_LISTED, MAX_LISTED_TOKENS
from playground.link.changes import fit_changes
from playground.link.opening import LinkedView, view_of
from playground.link.query import longest_sentence
from playground.model.changes import Change
from playground.runs import encoder_run
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text import Batch, split_sentences
from playground.views.attention.page import attention_scene, show_attention
from playground.views.bug_lab import linked_lab, show_bug_lab
from playground.views.change_names import note_set_weights
from playground.views.encoder_decoder import linked_pair, show_encoder_decoder
from playground.views.gradient_flow import linked_encoders, show_gradient_flow
from playground.views.norms import show_norms
from playground.views.overview import overview_scene, show_overview
from playground.views.parameters import parameters_scene, show_parameters
from playground.views.parts import read_parts, show_parts
from playground.views.positions import positions_scene, show_positions
from playground.views.scenes import run_scene
from playground.views.similarity.page import show_similarity
from playground.views.similarity.sentences import EXAMPLE, Sentences
from playground.views.steps.page import show_steps, walk_scene
from playground.views.tutorials import linked_tutorials, show_tutorials
from playground.views.what_if.followed import Followed, show_followed

S = TypeVar("S")


@dataclass(frozen=True)
class View:
    """A page's view."""

    show: Callable[[Scene[Any], Options], Iterator[Item]]
    scene: Callable[[LinkedView], Scene[Any]]
    """What it looks at where a link is opened without the app; raises as the link's run."""


def run_one(view: LinkedView, batch: Batch, sentence: int, changes: tuple[Change, ...] = ()) -> Run:
    """The run of one sentence of a batch through the link's encoder."""
    return encoder_run.run(view.encoder, batch, sentence, seed=view.seed, causal=view.causal, interventions=changes)


def fit_to_sentence(view: LinkedView, batch: Batch, sentence: int) -> tuple[Change, ...]:
    """The link's changes that a sentence's run can have; what names a token is made in the link's own alone."""
    made = [each for each in view.values["do"].made if sentence == view.sentence or each.change.names_no_token]
    return fit_changes(made, view.config, batch, sentence, causal=view.causal).applied


def sentences_scene(view: LinkedView) -> Scene[Sentences]:
    """The link's sentences with those that its list adds; with the example where one sentence would stand alone."""
    pasted = split_sentences(view.values["similarity_list"], MAX_LISTED).sentences
    texts = (*view.text, *(pasted or EXAMPLE * (len(view.text) < 2)))[:MAX_LISTED]
    listed = view_of(view.page, view.values, source=view.lab.source, listed=texts)
    encoder, options = listed.encoder, dict[str, Any](seed=view.seed, causal=view.causal)
    batch = listed.tokenizer.encode_batch(texts, min(longest_sentence(view.values), MAX_LISTED_TOKENS))
    changes = tuple(fit_to_sentence(listed, batch, i) for i in range(len(texts)))
    for_any_text = tuple(tuple(filter(is_for_any_text, each)) for each in changes)
    read = cache(partial(sentences.read_depths, encoder, batch, **options))
    depths = read(interventions=changes)

    def leave_words_out(side: int, other: int, pooling: Pooling) -> LeftOutWords:
        vector = read(interventions=for_any_text).pooled[pooling][-1, other]
        changed = {"interventions": for_any_text[side], **options}
        return sentences.leave_words_out(encoder, listed.tokenizer, batch, side, vector, pooling, **changed)

    subject = Sentences(
        texts,
        batch,
        depths,
        listed.config,
        view.weights,
        map_depths=lambda pooling: map_depths(depths.pooled[pooling]),
        leave_words_out=leave_words_out,
        causal=view.causal,
        is_changed=any(changes),
        for_any_text=None if for_any_text == changes else partial(read, interventions=for_any_text),
    )
    return Scene(subject)


def followed_scene(view: LinkedView) -> Scene[Followed]:
    """The link's run with its changes and without them."""
    every = range(len(view.text))

    def similarities(pooling: Pooling) -> tuple[Array, Array]:
        before = [run_one(view, view.batch, i) for i in every]
        after = [run_one(view, view.batch, i, fit_to_sentence(view, view.batch, i)) for i in every]
        return sentence_similarity(before, pooling), sentence_similarity(after, pooling)

    followed = Followed(
        view.run,
        run_one(view, view.batch, view.sentence),
        view.sentence,
        len(view.text),
        similarities,
        pooled_in_training=view.weights == "minilm",
        causal=view.causal,
        is_random=view.weights == "random",
        notes=partial(note_set_weights, view.run),
    )
    return Scene(followed, view.focus)


VIEWS: Mapping[str, View] = {
    "overview": View(show_overview, overview_scene),
    "attention": View(show_attention, attention_scene),
    "norms": View(show_norms, run_scene),
    "parameters": View(show_parameters, parameters_scene),
    "what-if": View(show_followed, followed_scene),
    "similarity": View(show_similarity, sentences_scene),
    "step-by-step": View(show_steps, walk_scene),
    "positions": View(show_positions, positions_scene),
    "encoder-decoder": View(show_encoder_decoder, linked_pair),
    "parts": View(show_parts, lambda view: read_parts(view.values["parts_view"])),
    "gradient-flow": View(show_gradient_flow, linked_encoders),
    "bug-lab": View(show_bug_lab, linked_lab),
    "tutorials": View(show_tutorials, linked_tutorials),
}
"""By the pages' paths, in the order of the menu."""
