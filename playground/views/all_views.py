"""Every page that is a view, by its path: what it shows, and what a link's scene of it is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar

from playground.accounting.readable import ModelCosts, sentence_costs
from playground.analysis import positions, sentences
from playground.analysis.attention import PROBES, Habits, check_probes, measure_habits
from playground.analysis.attribution import destination, head_maps
from playground.analysis.comparison import have_same_tokens
from playground.analysis.sentences import LeftOutWords, Pooling, is_for_any_text, map_depths, sentence_similarity
from playground.analysis.stream_sources import split_stream
from playground.analysis.walkthrough import Walk
from playground.charts.chart import Item, Options
from playground.charts.scene import Scene
from playground.charts.weights import shrink
from playground.errors import PlaygroundError
from playground.limits import MAX_LISTED, MAX_LISTED_TOKENS, MAX_TOKENS
from playground.link.changes import Changes, fit_changes
from playground.link.opening import Focus, LinkedView, view_of
from playground.link.query import longest_sentence
from playground.model.changes import Change
from playground.presets import PRESETS
from playground.runs import encoder_run
from playground.runs.arrays import Array
from playground.runs.encoder_run import LayerRun, Run, trace_layer
from playground.text import Batch, split_sentences
from playground.views.attention.explanation import HeadsRun
from playground.views.attention.page import show_attention, visible_tokens
from playground.views.bug_lab import linked_lab, show_bug_lab
from playground.views.change_names import note_set_weights
from playground.views.encoder_decoder import linked_pair, show_encoder_decoder
from playground.views.gradient_flow import linked_encoders, show_gradient_flow
from playground.views.norms import show_norms
from playground.views.overview import ReadSentence, show_overview
from playground.views.parameters import show_parameters
from playground.views.parts import read_parts, show_parts
from playground.views.positions import MAX_DISTANCE, PlacedWords, show_positions
from playground.views.similarity.page import show_similarity
from playground.views.similarity.sentences import EXAMPLE, Sentences
from playground.views.steps.page import compare_walks, show_steps
from playground.views.tutorials import linked_tutorials, show_tutorials
from playground.views.what_if.followed import Followed, show_followed

S = TypeVar("S")


@dataclass(frozen=True)
class View:
    """A page's view."""

    show: Callable[[Scene[Any], Options], Iterator[Item]]
    scene: Callable[[LinkedView], Scene[Any]]
    """What it looks at where a link is opened without the app; raises as the link's run."""


def run_scene(view: LinkedView) -> Scene[Run]:
    """The run that a link shows, and the pinned one where it can be had."""
    pinned = None
    if view.pinned is not None:
        try:
            pinned = view.pinned.run
        except PlaygroundError:  # the present run is shown alone, as on the page
            pinned = None
    if pinned is None:
        return Scene(view.run, view.focus)
    return Scene(view.run, view.focus, pinned, "pinned", "now", have_same_tokens(view.run, pinned))


def scene_of(read: Callable[[LinkedView, Run], S], view: LinkedView) -> Scene[S]:
    """What a page reads of the link's run, and of the pinned one where it can be had."""
    runs = run_scene(view)
    pinned = None if view.pinned is None or runs.pinned is None else read(view.pinned, runs.pinned)
    return runs.with_subjects(read(view, runs.now), pinned)


def without_changes(view: LinkedView) -> LinkedView:
    """The view without what the link changes in the computation, on both sides."""
    pinned = None if view.pinned is None else without_changes(view.pinned)
    return replace(view, values={**view.values, "do": Changes()}, pinned=pinned)


def walk_scene(view: LinkedView) -> Scene[Walk]:
    """The walk that a link's focus chooses, and the pinned one where it can be had through the same tokens."""
    runs, now = run_scene(view), _walk(view, view.focus)
    if view.pinned is None or runs.pinned is None or not runs.same_tokens:
        return compare_walks(now, None, "")
    return compare_walks(now, _walk(view.pinned, view.focus.within(runs.pinned.config)), runs.pinned_name)


def _walk(view: LinkedView, focus: Focus) -> Walk:
    changes = view.changes.applied
    layer = trace_layer(
        view.encoder, view.batch, view.sentence, focus.layer, seed=view.seed, causal=view.causal, interventions=changes
    )
    return Walk(layer, focus.head, focus.query, focus.key)


def read_sentence(view: LinkedView, run: Run) -> ReadSentence:
    """What the overview shows of a run."""
    return ReadSentence(run, view.batch, view.sentence, view.causal, pinned_costs(view))


def pinned_costs(view: LinkedView) -> ModelCosts | None:
    """What a link's pinned model costs for its text; None where nothing is pinned, or its text cannot be read."""
    try:
        return None if view.pinned is None else _count_costs(view.pinned)
    except PlaygroundError:
        return None


def _count_costs(view: LinkedView) -> ModelCosts:
    return sentence_costs(view.config, view.batch.ids.shape[1])


def costs_scene(view: LinkedView) -> Scene[ModelCosts]:
    """The model that the page Parameters counts; beside the link's own, the pinned one."""
    name = view.values["parameters_model"]
    focus = Focus(min(view.values["layer"], view.config.n_layers - 1), 0, 0, 0)
    if name != "sidebar":
        return Scene(sentence_costs(PRESETS[name].config, view.batch.ids.shape[1], name), focus)
    pinned = pinned_costs(view)
    return Scene(_count_costs(view), focus, pinned, "pinned" if pinned else "", "now")


def explain_heads(view: LinkedView, run: Run) -> HeadsRun:
    """A run with what explains its heads."""
    encoder, batch, applied = view.encoder, view.batch, view.changes.applied

    @cache
    def trace(layer: int) -> LayerRun:
        options: Any = {"seed": view.seed, "causal": view.causal, "interventions": applied}
        return trace_layer(encoder, batch, view.sentence, layer, **options)

    def habits(source: str) -> Habits:
        if source == "this text":
            return measure_habits([run])
        probes = view.tokenizer.encode_batch(PROBES)
        check_probes(probes.unknown)
        return measure_habits([run_one(view, probes, i) for i in range(len(PROBES))])

    def thumbnails(hide: bool) -> Array:
        visible = visible_tokens(run, {"attention_hide": hide})
        return shrink(run.patterns()[:, :, visible][..., visible])

    return HeadsRun(
        run,
        trace,
        cache(partial(split_stream, run, encoder)),
        lambda walk: head_maps(encoder, walk.layer.layer, walk.head, destination(walk)[1]),
        habits,
        thumbnails,
        is_random=view.weights == "random",
    )


def run_one(view: LinkedView, batch: Batch, sentence: int, changes: tuple[Change, ...] = ()) -> Run:
    """The run of one sentence of a batch through the link's encoder."""
    return encoder_run.run(view.encoder, batch, sentence, seed=view.seed, causal=view.causal, interventions=changes)


def fit_to_sentence(view: LinkedView, batch: Batch, sentence: int) -> tuple[Change, ...]:
    """The link's changes that a sentence's run can have; what names a token is made in the link's own alone."""
    made = [each for each in view.values["do"].made if sentence == view.sentence or each.change.names_no_token]
    return fit_changes(made, view.config, batch, sentence, causal=view.causal).applied


def place_words(view: LinkedView, run: Run) -> PlacedWords:
    """What the page Positions shows of a run."""
    swap = partial(positions.swap_words, view.encoder, view.batch, view.sentence, seed=view.seed, causal=view.causal)
    rows = positions.first_rows(view.encoder, MAX_TOKENS)
    by_distance = positions.by_distance(view.encoder, MAX_DISTANCE)
    return PlacedWords(view.config, rows, run, cache(swap), view.causal, view.weights == "random", by_distance)


def sentences_scene(view: LinkedView) -> Scene[Sentences]:
    """The link's sentences with those that its list adds; with the example where one sentence would stand alone."""
    pasted = split_sentences(view.values["similarity_list"], MAX_LISTED).sentences
    texts = (*view.text, *(pasted or EXAMPLE * (len(view.text) < 2)))[:MAX_LISTED]
    listed = view_of(view.page, view.values, max_parameters=view.max_parameters, listed=texts)
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
    "overview": View(show_overview, partial(scene_of, read_sentence)),
    "attention": View(show_attention, partial(scene_of, explain_heads)),
    "norms": View(show_norms, run_scene),
    "parameters": View(show_parameters, costs_scene),
    "what-if": View(show_followed, followed_scene),
    "similarity": View(show_similarity, sentences_scene),
    "step-by-step": View(show_steps, walk_scene),
    "positions": View(show_positions, lambda view: scene_of(place_words, without_changes(view))),
    "encoder-decoder": View(show_encoder_decoder, linked_pair),
    "parts": View(show_parts, lambda view: read_parts(view.values["parts_view"])),
    "gradient-flow": View(show_gradient_flow, linked_encoders),
    "bug-lab": View(show_bug_lab, linked_lab),
    "tutorials": View(show_tutorials, linked_tutorials),
}
"""By the pages' paths, in the order of the menu."""
