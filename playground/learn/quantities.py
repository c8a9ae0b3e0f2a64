"""Named numbers of a state, which exercises ask for: `pattern[3,1,it,animal]`, `parameters.share[embeddings]`.

To add one: a function here with `@quantity`. A state is what a link shows; a token in brackets is its place, counted
from 0, or the token itself, of which the first stands in the text. Without layer and head, those of the link are meant.
"""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray

from playground.accounting import count_parameters
from playground.accounting.counts import attention_overtakes, count_encoder_decoder
from playground.accounting.shapes import list_shapes
from playground.analysis import attention, positions, streams
from playground.analysis.changes import sentence_change
from playground.analysis.gradient_variants import BY_NAME, common_config, variant_config
from playground.analysis.sentences import Pooling, SentenceDepths, read_depths
from playground.charts.names import token_names
from playground.config import ModelConfig
from playground.errors import InputError
from playground.link.opening import LinkedView
from playground.link.params import RECIPE, TASK_TITLES
from playground.link.query import model_config, shape_to_train
from playground.model import EncoderDecoder, Trace
from playground.model.changes import Change
from playground.model.positions import wavelengths
from playground.runs import encoder_run
from playground.runs.arrays import Array
from playground.runs.encoder_run import LayerRun, Run, trace_layer
from playground.runs.forward_pass import intervention_trace, read_rows, run_rows
from playground.text.wording import join_words, quote_word
from playground.training.network import evaluate
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import make_data
from playground.training.trainer import Trainer, cross_entropy, learning_rate
from playground.views.gradient_flow import gradient_scene

Found = TypeVar("Found")

Floats = NDArray[np.float64]

Place = int | str
"""A number from 0, or a token."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers along one or two axes, each place with a name."""

    values: Array | NDArray[np.float64]
    """(rows,) or (rows, columns)."""
    rows: tuple[str, ...]
    """Plain texts."""
    columns: tuple[str, ...] = ()
    row_title: str = ""
    column_title: str = ""
    title: str = ""
    """What the numbers are."""

    def __getitem__(self, place: Any) -> float:
        return float(self.values[place])

    @property
    def axes(self) -> list[list[str]]:
        """The names along each axis, each once."""
        return [axis_names(names) for names in (self.rows, self.columns) if names]

    def best(self, wanted: str) -> tuple[int, ...]:
        """The place of the `largest` or `smallest` number."""
        find = np.nanargmax if wanted == "largest" else np.nanargmin
        return tuple(map(int, np.unravel_index(int(find(self.values)), self.values.shape)))

    def name(self, place: Sequence[int]) -> str:
        """A place by the names of its row and column, such as `it₉ → animal₂`."""
        return " → ".join(names[i] for names, i in zip(self.axes, place, strict=True))


def axis_names(names: Sequence[str]) -> list[str]:
    """Names of places, each once: with its number below the line where two are the same. For menus and tables."""
    return list(names) if len(set(names)) == len(names) else token_names(names)


@dataclass(frozen=True)
class Quantity:
    """One named quantity."""

    name: str
    places: str
    """What stands in its brackets; empty where nothing does."""
    meaning: str
    """In one sentence, with its unit."""
    function: Callable[..., float | str | Numbers]

    def compute(self, view: LinkedView, *places: Place) -> float | str | Numbers:
        """The quantity of a state; raises an `InputError` where it has no such place, and whatever its run raises."""
        try:
            inspect.signature(self.function).bind(view, *places)
        except TypeError as error:
            form = f"{self.name}[{self.places}]" if self.places else self.name
            raise InputError(f"`{self.name}` is written `{form}`.") from error
        return self.function(view, *places)


QUANTITIES: dict[str, Quantity] = {}
"""By name."""


def quantity(
    name: str, meaning: str, places: str = ""
) -> Callable[[Callable[..., float | str | Numbers]], Callable[..., float | str | Numbers]]:
    """Put a function of a state, and of places in it, into the table."""

    def add(function: Callable[..., float | str | Numbers]) -> Callable[..., float | str | Numbers]:
        QUANTITIES[name] = Quantity(name, places, meaning, function)
        return function

    return add


def _once(function: Callable[..., Found]) -> Callable[..., Found]:
    """A function of a state, and of places in it, that computes the same only once as long as the state is held."""
    kept: WeakKeyDictionary[LinkedView, dict[tuple[Any, ...], Found]] = WeakKeyDictionary()

    @wraps(function)
    def compute(view: LinkedView, *places: Any) -> Found:
        found = kept.setdefault(view, {})
        if places not in found:
            found[places] = function(view, *places)
        return found[places]

    return compute


def _layer(view: LinkedView, layer: Place | None) -> int:
    """A layer's place; the link's where none is named."""
    return view.focus.layer if layer is None else _number(layer, view.config.n_layers, "layer")


def _head(view: LinkedView, head: Place | None) -> int:
    """A head's place; the link's where none is named."""
    return view.focus.head if head is None else _number(head, view.config.n_heads, "head")


def _number(place: Place, n: int, what: str) -> int:
    if not isinstance(place, int) or not -n <= place < n:
        raise InputError(f"There is no {what} {place}: the {what}s are 0 to {n - 1}.")
    return place % n


def _token(run: Run, place: Place) -> int:
    if isinstance(place, int):
        return _number(place, len(run.tokens), "token")
    words = [token.lower() for token in run.tokens]
    if place.lower() not in words:
        raise InputError(f"The token {quote_word(place)} is not in the text.")
    return words.index(place.lower())


@quantity(
    "pattern",
    "The weight, from 0 to 1, that a head gives from a query's token to a key's; without a key the query's row, "
    "without a query the head's whole map.",
    "layer, head, query, key",
)
def _pattern(
    view: LinkedView, layer: Place, head: Place, query: Place | None = None, key: Place | None = None
) -> float | Numbers:
    run = view.run
    weights = run.pattern(_layer(view, layer))[_head(view, head)]
    title = f"weights of layer {layer}, head {head}"
    if query is None:
        return Numbers(weights, run.tokens, run.tokens, "looks", "at", title)
    row = weights[_token(run, query)]
    return Numbers(row, run.tokens, (), "key", "", title) if key is None else float(row[_token(run, key)])


@quantity("config", "A size or choice of the architecture, by its name such as d_model.", "name")
def _config(view: LinkedView, name: Place) -> float | str:
    value = vars(view.config).get(str(name))
    if value is None:
        raise InputError(f"The architecture has no {quote_word(str(name))}.")
    return value if isinstance(value, str) else float(value)


@quantity("d_head", "How many numbers one head's queries have: d_model / n_heads.")
def _d_head(view: LinkedView) -> float:
    return view.config.head_width


@quantity("focus", "What the link looks at, counted from 0: layer, head, query or key.", "place")
def _focus(view: LinkedView, place: Place) -> float:
    return _named(vars(view.focus), place, "place")


@quantity("tokens", "How many tokens the sentence has, special ones included, padding left out.")
def _tokens(view: LinkedView) -> float:
    return len(view.batch.tokens[view.sentence])


@quantity("padding.share", "The share, from 0 to 1, of padding among all places of the sentences that run together.")
def _padding_share(view: LinkedView) -> float:
    return 1 - float(view.batch.mask.float().mean())


@quantity("parameters.total", "How many numbers the model learns.")
def _parameters(view: LinkedView) -> float:
    return count_parameters(view.config).total


@quantity("parameters.of", "How many of them a component has: embeddings, attention, feed_forward, norms.", "component")
def _parameters_of(view: LinkedView, component: Place) -> float:
    counts: Mapping[Any, int] = count_parameters(view.config).by(lambda term: term.component)
    if component not in counts:
        raise InputError(f"There is no component {quote_word(str(component))}: those are {', '.join(counts)}.")
    return counts[component]


@quantity("parameters.share", "The share, from 0 to 1, that a component has of them.", "component")
def _parameters_share(view: LinkedView, component: Place) -> float:
    return float(_parameters_of(view, component)) / count_parameters(view.config).total  # type: ignore[arg-type]


@quantity("parameters.block", "How many parameters one block has.")
def _block(view: LinkedView) -> float:
    return count_parameters(view.config).by(lambda term: term.layer)[0]


@quantity(
    "parameters.decoder_block",
    "How many parameters a decoder block of this architecture has, or its self_attn, cross_attn, ffn or norms alone.",
    "part",
)
def _decoder_block(view: LinkedView, part: Place | None = None) -> float:
    prefix = "decoder.layers.0."
    terms = [term for term in count_encoder_decoder(view.config, 1) if term.name.startswith(prefix)]
    parts: dict[str, int] = {}
    for term in terms:
        name = term.name.removeprefix(prefix).split(".")[0]
        name = "norms" if name.startswith("norm") else name
        parts[name] = parts.get(name, 0) + term.count
    return sum(parts.values()) if part is None else _named(parts, part, "part of a decoder block")


@quantity(
    "shape.count",
    "How many numbers an intermediate of the sentence's pass has, such as 'attn.scores' of a block.",
    "name",
)
def _shape_count(view: LinkedView, name: Place) -> float:
    shapes = list_shapes(view.config, 1, view.batch.ids.shape[1], view.causal)
    of_block = {key.removeprefix("layers.0."): shape for key, shape in shapes}
    return math.prod(_find(of_block, name, "intermediate"))


@quantity("flops.overtake", "The fewest tokens with which attention takes more operations than the feed-forward.")
def _overtake(view: LinkedView) -> float:
    return attention_overtakes(view.config) or math.inf


@quantity("weight", "The weight that the link's head gives from the link's query to the link's key.")
def _weight(view: LinkedView) -> float:
    return float(_focus_row(view)[view.focus.key])


@quantity("weight.tempered", "That weight if all scores are divided by a temperature first, in percent.", "percent")
def _weight_tempered(view: LinkedView, percent: Place) -> float:
    return float(_softmax(_focus_scores(view) / (_percent(percent) / 100))[view.focus.key])


@quantity("weight.undivided", "That weight if scores were not divided by √d_head.")
def _weight_undivided(view: LinkedView) -> float:
    return float(_softmax(_focus_scores(view) * math.sqrt(view.config.head_width))[view.focus.key])


@quantity("weight.shifted", "That weight if a whole number were added to all of its query's scores.", "number")
def _weight_shifted(view: LinkedView, added: Place) -> float:
    return float(_softmax(_focus_scores(view) + _whole(added))[view.focus.key])


@quantity("weight.lead", "How many times the link's weight is that of its query's heaviest other key.")
def _weight_lead(view: LinkedView) -> float:
    row = _focus_row(view)
    return float(row[view.focus.key] / np.delete(row, view.focus.key).max())


@quantity("weight.lead_tempered", "That ratio if all scores are divided by a temperature first, in percent.", "percent")
def _weight_lead_tempered(view: LinkedView, percent: Place) -> float:
    row = _softmax(_focus_scores(view) / (_percent(percent) / 100))
    return float(row[view.focus.key] / np.delete(row, view.focus.key).max())


@quantity("weight.most", "The largest weight that the link's head gives from the link's query.")
def _weight_most(view: LinkedView) -> float:
    return float(_focus_row(view).max())


@quantity("weight.most_token", "The token that gets it.")
def _weight_most_token(view: LinkedView) -> str:
    return view.run.tokens[int(_focus_row(view).argmax())]


def _focus_row(view: LinkedView) -> Floats:
    row: Floats = view.run.pattern(view.focus.layer)[view.focus.head, view.focus.query].astype(np.float64)
    return row


def _focus_scores(view: LinkedView) -> Floats:
    scores: Array = _trace(view, view.focus.layer)["attn.scores"][view.focus.head, view.focus.query]
    return scores.astype(np.float64)


def _softmax(scores: Floats) -> Floats:
    powers: Floats = np.exp(scores - scores.max())
    powers /= powers.sum()
    return powers


@_once
def _trace(view: LinkedView, layer: int) -> LayerRun:
    return trace_layer(
        view.encoder,
        view.batch,
        view.sentence,
        layer,
        seed=view.seed,
        causal=view.causal,
        interventions=view.changes.applied,
    )


@quantity("deviation.products", "Standard deviation of a head's q · k, before they are divided.", "layer, head")
def _deviation_products(view: LinkedView, layer: Place | None = None, head: Place | None = None) -> float:
    found, number = _trace(view, _layer(view, layer)), _head(view, head)
    q, k = (found[f"attn.{name}"][number][~view.run.padding].astype(np.float64) for name in "qk")
    return float((q @ k.T).std())


@quantity("deviation.scores", "Standard deviation of a head's scores q · k / √d_head.", "layer, head")
def _deviation_scores(view: LinkedView, layer: Place | None = None, head: Place | None = None) -> float:
    scores = _trace(view, _layer(view, layer))["attn.scores"][_head(view, head)].astype(np.float64)
    real = ~view.run.padding
    return float(scores[real][:, real].std())


@quantity("pattern.total", "The sum of all weights in a head's map.", "layer, head")
def _pattern_total(view: LinkedView, layer: Place | None = None, head: Place | None = None) -> float:
    return float(view.run.pattern(_layer(view, layer))[_head(view, head)].sum(dtype=np.float64))


@quantity("pattern.allowed", "How many cells of a head's map the mask leaves open.")
def _allowed(view: LinkedView) -> float:
    return float((view.run.allowed_in(view.focus.layer) & ~view.run.padding[:, None]).sum())


@quantity("keys", "How many keys each query may look at; of one query, or of each along the text.", "query")
def _keys(view: LinkedView, query: Place | None = None) -> float | Numbers:
    run = view.run
    counts: Floats = run.allowed_in(view.focus.layer).sum(axis=1).astype(np.float64)
    if query is not None:
        return float(counts[_token(run, query)])
    return Numbers(counts, run.tokens, (), "query", "", "keys that a query may look at")


@quantity("received", "The mean weight that each token, or one, gets from all tokens in a head.", "layer, head, token")
def _received(
    view: LinkedView, layer: Place | None = None, head: Place | None = None, token: Place | None = None
) -> float | Numbers:
    run = view.run
    weights = run.pattern(_layer(view, layer))[_head(view, head)][~run.padding].mean(axis=0)
    if token is not None:
        return float(weights[_token(run, token)])
    return Numbers(weights, run.tokens, (), "token", "", "mean weight that a token gets")


@quantity(
    "entropy",
    "How spread out a query's weights are, in bits: 0 on one key, log2(n) evenly on n keys.",
    "layer, head, query",
)
def _entropy(view: LinkedView, layer: Place, head: Place, query: Place) -> float:
    run = view.run
    return float(attention.entropy(run.pattern(_layer(view, layer)))[_head(view, head), _token(run, query)])


@quantity(
    "entropy.share", "Mean entropy of a head's queries, as a share of the highest that they could have.", "layer, head"
)
def _entropy_share(view: LinkedView, layer: Place | None = None, head: Place | None = None) -> float:
    return float(attention.pattern_spread(view.run)[_layer(view, layer), _head(view, head)])


@quantity("heads.focus", "Every head's weight, or one head's, from the link's query to the link's key.", "layer, head")
def _heads_focus(view: LinkedView, layer: Place | None = None, head: Place | None = None) -> float | Numbers:
    weights = view.run.patterns()[:, :, view.focus.query, view.focus.key]
    return _of_heads(view, weights, "weight", layer, head)


@quantity(
    "heads.rule",
    "How far every head, or one, follows a rule such as 'previous token' in the text: its mean weight there.",
    "rule, layer, head",
)
def _heads_rule(
    view: LinkedView, rule: Place, layer: Place | None = None, head: Place | None = None
) -> float | Numbers:
    scores = _find(attention.measure_habits([view.run]).scores, rule, "rule")
    return _of_heads(view, scores, f"weight on: {rule}", layer, head)


def _of_heads(
    view: LinkedView, values: Array | Floats, title: str, layer: Place | None, head: Place | None
) -> float | Numbers:
    """A head's number of all heads' (L, H); all of them where none is named."""
    if layer is not None and head is not None:
        return float(values[_layer(view, layer), _head(view, head)])
    n_layers, n_heads = values.shape
    rows = tuple(f"layer {number}" for number in range(n_layers))
    return Numbers(values, rows, tuple(f"head {number}" for number in range(n_heads)), "layer", "head", title)


@quantity(
    "effect", "How far the sentence's vector moves, as a share of its length, if a head writes nothing.", "layer, head"
)
@_once
def _effect(view: LinkedView, layer: Place | None = None, head: Place | None = None) -> float:
    off = Change("zero", _layer(view, layer), _head(view, head))
    after = encoder_run.run(
        view.encoder,
        view.batch,
        view.sentence,
        seed=view.seed,
        causal=view.causal,
        interventions=(*view.changes.applied, off),
    )
    return float(sentence_change(view.run, after).relative)


@quantity(
    "moves",
    "How far a token's output moves, as a share of its length, if another token comes in elsewhere; 0 up to rounding.",
    "replaced, token",
)
def _moves(view: LinkedView, replaced: Place, token: Place) -> float:
    run = view.run
    return float(_moved(view, _token(run, replaced))[_token(run, token)])


@quantity(
    "moves.count", "How many outputs move if another token comes in at a place, or at the link's query.", "replaced"
)
def _moves_count(view: LinkedView, replaced: Place | None = None) -> float:
    place = view.focus.query if replaced is None else _token(view.run, replaced)
    return float((_moved(view, place) > 0).sum())


_ROUNDING = 1e-5
"""A smaller share is none, in float32."""


@_once
def _moved(view: LinkedView, replaced: int) -> Array:
    """How far every real token's output moves: (T,). The other token's vector has the same numbers in reverse order."""
    rows = read_rows(view.encoder, view.batch, [view.sentence], seed=view.seed, causal=view.causal)
    before = run_rows(view.encoder, rows, end=0)
    after = before.clone()
    after[0, replaced] = before[0, replaced].flip(-1)
    trace = intervention_trace(
        view.encoder,
        view.batch,
        view.sentence,
        [view.changes.applied],
        seed=view.seed,
        causal=view.causal,
        sources=None,
        keep=lambda name: False,
    )
    one, other = (run_rows(view.encoder, rows.at(0, x), trace)[0].cpu().numpy() for x in (before, after))
    share: Array = np.linalg.norm(other - one, axis=-1) / np.linalg.norm(one, axis=-1)
    return np.where(share > _ROUNDING, share, 0.0)[~view.run.padding]


@quantity(
    "swap.by_word", "The largest change of a word's own output numbers when two tokens change places.", "first, second"
)
@_once
def _swap_by_word(view: LinkedView, first: Place | None = None, second: Place | None = None) -> float:
    places = _swapped(view, first, second)
    swap = positions.swap_words(view.encoder, view.batch, view.sentence, *places, seed=view.seed, causal=view.causal)
    return float((swap.bare if view.config.positions == "none" else swap.placed).max())


@quantity(
    "swap.by_place",
    "The largest change of the output numbers at a place when two tokens change places.",
    "first, second",
)
@_once
def _swap_by_place(view: LinkedView, first: Place | None = None, second: Place | None = None) -> float:
    one, two = _swapped(view, first, second)
    rows = read_rows(view.encoder, view.batch, [view.sentence], seed=view.seed, causal=view.causal)
    x = rows.x.clone()
    x[0, [one, two]] = rows.x[0, [two, one]]
    before, after = (run_rows(view.encoder, replace(rows, x=each))[0].cpu() for each in (rows.x, x))
    return float((after - before).abs()[torch.from_numpy(~view.run.padding)].max())


def _swapped(view: LinkedView, first: Place | None, second: Place | None) -> tuple[int, int]:
    """Two tokens' places; those of the page Positions where none are named."""
    one = view.values["positions_first"] if first is None else first
    two = view.values["positions_second"] if second is None else second
    return _token(view.run, one), _token(view.run, two)


@quantity(
    "positions.cosine",
    "The cosine of the first row of the position table with another, or with every row up to 64.",
    "position",
)
def _position_cosines(view: LinkedView, position: Place | None = None) -> float | Numbers:
    cosines = streams.cosine_between_tokens(positions.first_rows(view.encoder, 64))[0]
    if position is not None:
        return float(cosines[_number(position, len(cosines), "position")])
    return Numbers(cosines, _count(len(cosines)), (), "position", "", "cosine with the row of position 0")


@quantity("positions.wavelength", "After how many positions a pair of columns of the sinusoids repeats.", "pair")
def _wavelength(view: LinkedView, pair: Place) -> float:
    lengths = wavelengths(view.config.d_model, doubled=view.config.positions == "sinusoidal-doubled")
    return float(lengths[_number(pair, len(lengths), "pair")])


@quantity("stream.length", "Median length of the tokens' vectors after so many blocks, or after each.", "blocks")
def _stream_length(view: LinkedView, depth: Place | None = None) -> float | Numbers:
    medians: Floats = np.median(streams.lengths(view.run)["residual"].astype(np.float64), axis=1)
    if depth is not None:
        return float(medians[_number(depth, len(medians), "depth")])
    return Numbers(medians, _count(len(medians)), (), "blocks passed", "", "median length of the tokens' vectors")


@quantity("output.length", "Median length of the vectors that leave the encoder, behind a final norm where it has one.")
def _output_length(view: LinkedView) -> float:
    return float(np.median(streams.l2(view.run.arrays["final"][~view.run.padding])))


@quantity(
    "similarity",
    "Cosine, from −1 to 1, of two of the text's sentences, counted from 0; mean of their tokens.",
    "one, other",
)
def _similarity(view: LinkedView, one: Place, other: Place) -> float:
    return _cosine(view, one, other, "mean")


@quantity("similarity.padded", "That cosine where the mean forgets to leave padding out.", "one, other")
def _similarity_padded(view: LinkedView, one: Place, other: Place) -> float:
    return _cosine(view, one, other, "mean with padding")


def _cosine(view: LinkedView, one: Place, other: Place, pooling: Pooling) -> float:
    cosines = _depths(view).similarity(pooling)
    return float(cosines[_number(one, len(cosines), "sentence"), _number(other, len(cosines), "sentence")])


@_once
def _depths(view: LinkedView) -> SentenceDepths:
    return read_depths(view.encoder, view.batch, seed=view.seed, causal=view.causal)


@quantity(
    "cross.moves",
    "How far queries, keys or values of an untrained decoder's first cross-attention, or the masked queries before it, "
    "move, as a share of their length, if the source's tokens come in reverse order.",
    "part",
)
@_once
def _cross_moves(view: LinkedView, part: Place) -> float:
    letters = {"queries": "cross_attn.q", "keys": "cross_attn.k", "values": "cross_attn.v", "masked": "self_attn.q"}
    point = f"decoder.layers.0.{_find(letters, part, 'part of a decoder block')}"
    n_targets = 4
    model = EncoderDecoder(view.config, n_targets, view.seed).requires_grad_(False).eval()
    target, one = torch.arange(n_targets)[None], view.batch.ids[view.sentence : view.sentence + 1]
    found = []
    for source in (one, one.flip(-1)):
        trace = Trace(point.__eq__)
        model(source, target, trace=trace)
        found.append(trace[point].double())
    return float((found[1] - found[0]).norm() / found[0].norm())


@quantity("gradient.kept", "What is left of the last layer's gradient in the first: first / last.", "encoder")
def _gradient_kept(view: LinkedView, variant: Place) -> float:
    lengths = gradient_scene(view).now.flow(_variant(variant)).gradients["whole layer"]
    return float(lengths[0] / lengths[-1])


def _variant(name: Place) -> Any:
    return _find(BY_NAME, name, "encoder")


@quantity("rate", "The learning rate of a training step, counted from 1, or of each, as a share of the peak.", "step")
def _rate(view: LinkedView, step: Place | None = None) -> float | Numbers:
    recipe = _recipe(view)
    if step is not None:
        return learning_rate(_whole(step), recipe) / recipe.lr
    rates = np.array([learning_rate(step, recipe) / recipe.lr for step in range(1, recipe.steps + 1)])
    return Numbers(rates, _count(recipe.steps, 1), (), "step", "", "learning rate, as a share of its peak")


@quantity("training", "A number of the link's training, by its name such as n_symbols or label_smoothing.", "name")
def _training(view: LinkedView, name: Place) -> float:
    recipe = {key: value for key, value in vars(_recipe(view)).items() if isinstance(value, int | float)}
    return _named(recipe, name, "number of a training")


@quantity("loss.even", "Cross-entropy, in nats, of giving every symbol of the training's task the same probability.")
def _loss_even(view: LinkedView) -> float:
    n_classes = _recipe(view).n_symbols
    return float(cross_entropy(torch.zeros(1, n_classes, dtype=torch.float64), torch.zeros(1, dtype=torch.int64)))


@quantity("loss.floor", "The lowest loss, in nats, that the training's label smoothing leaves possible.")
def _loss_floor(view: LinkedView) -> float:
    recipe = _recipe(view)
    share = recipe.label_smoothing
    smoothed = torch.full((1, recipe.n_symbols), share / recipe.n_symbols, dtype=torch.float64)
    smoothed[0, 0] += 1 - share
    best = smoothed.clamp_min(1e-300).log()
    return float(cross_entropy(best, torch.zeros(1, dtype=torch.int64), share))


def _recipe(view: LinkedView) -> Recipe:
    values = {name: view.values[f"training_{name}"] for name in RECIPE}
    return Recipe(task=TASK_TITLES[view.values["training_task"]], seed=view.seed, **values)


@quantity("trained.parameters", "How many parameters the encoder has that the link's training trains.")
def _trained_parameters(view: LinkedView) -> float:
    recipe = _recipe(view)
    return count_parameters(architecture(_trained_config(view), recipe, make_data(_small(recipe)))).total


@quantity("trained", "The share, from 0 to 1, of right answers to new sequences after the training that the link sets.")
def _trained(view: LinkedView) -> float:
    return _train(_trained_config(view), _small(_recipe(view)))


@quantity(
    "trained.encoder",
    "That share for an encoder of the page Gradient flow, such as 'pre-norm, no residual'.",
    "encoder",
)
def _trained_encoder(view: LinkedView, variant: Place) -> float:
    config = _trained_config(view)
    return _train(variant_config(common_config(config, config.n_layers), _variant(variant)), _small(_recipe(view)))


def _trained_config(view: LinkedView) -> ModelConfig:
    """The sidebar's architecture in the sizes of the training; the training puts its task's vocabulary in."""
    return model_config(shape_to_train(view.values), 1)


_MOST_TRAINED = {"steps": 400, "batch_size": 64, "length": 16}
"""A training that an exercise waits for takes a few seconds at most."""

_MOST_PARAMETERS = 200_000
"""Of what is trained."""


def _small(recipe: Recipe) -> Recipe:
    for name, most in _MOST_TRAINED.items():
        if vars(recipe)[name] > most:
            raise InputError(
                f"An exercise trains with `training_{name}` up to {most}, and here it is {vars(recipe)[name]}."
            )
    return replace(recipe, n_train=min(recipe.n_train, 1024), n_validation=128)


@lru_cache(maxsize=64)
def _train(config: ModelConfig, recipe: Recipe) -> float:
    n = count_parameters(config).total
    if n > _MOST_PARAMETERS:
        raise InputError(f"An exercise trains models of up to {_MOST_PARAMETERS:,} parameters, and this has {n:,}.")
    trainer = Trainer(replace(config, dropout=0.0), recipe, watch=False)
    for _ in trainer.run():
        pass
    return float(evaluate(trainer.network, trainer.data.validation, recipe, trainer.device).accuracy)


def _named(values: Mapping[str, float], name: Place, what: str) -> float:
    return float(_find(values, name, what))


def _find(values: Mapping[Any, Found], name: Place, what: str) -> Found:
    if name not in values:
        raise InputError(f"There is no {what} {quote_word(str(name))}: those are {join_words(list(map(str, values)))}.")
    return values[name]


def _percent(place: Place) -> int:
    if not isinstance(place, int) or place <= 0:
        raise InputError(f"A temperature in percent is a whole number above 0, such as 200, and not {place}.")
    return place


def _whole(place: Place) -> int:
    if not isinstance(place, int):
        raise InputError(f"A whole number is asked for here, and {quote_word(place)} is none.")
    return place


def _count(n: int, first: int = 0) -> tuple[str, ...]:
    return tuple(map(str, range(first, first + n)))
