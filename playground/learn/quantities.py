"""Named numbers of a state, which formulas ask for: `pattern[3,1,it,animal]`, `parameters.of[embeddings]`.

To add one, write a line in `QUANTITIES`. A state is what a link shows. Brackets hold places along the axes, by their
numbers from 0 or their names; of equal tokens the first counts.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from operator import attrgetter
from statistics import fmean
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray

from playground.accounting import count_parameters
from playground.accounting.counts import attention_overtakes, count_encoder_decoder
from playground.accounting.shapes import list_shapes
from playground.analysis import attention, positions, streams
from playground.analysis.comparison import sentence_change
from playground.analysis.gradients import BY_NAME, common_config, variant_config
from playground.analysis.sentences import SentenceDepths, read_depths
from playground.charts.names import token_names
from playground.config import ModelConfig
from playground.errors import InputError
from playground.language.family import shares_of
from playground.link import params
from playground.link.kinds import write
from playground.link.opening import LinkedView
from playground.link.params import RECIPE, TASK_TITLES, model_config
from playground.link.query import shape_to_train
from playground.model import EncoderDecoder, Trace
from playground.model.changes import Change
from playground.model.positions import wavelengths
from playground.runs import encoder_run
from playground.runs.arrays import Array
from playground.runs.encoder_run import LayerRun, trace_layer
from playground.runs.forward_pass import intervention_trace, read_rows, run_rows
from playground.text.wording import join_words, quote_word
from playground.training.network import evaluate
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import make_data
from playground.training.trained_network import TrainedNetwork
from playground.training.trainer import Trainer, cross_entropy, learning_rate
from playground.views.gradient_flow import gradient_scene

Found = TypeVar("Found")

Floats = NDArray[np.float64]

Place = int | str
"""A number from 0, or a token."""


def find_place(names: Sequence[str], place: Place, title: str) -> int:
    """Return a place along an axis, by its number or by its name; raises `InputError`."""
    words = [name.lower() for name in names]
    if isinstance(place, str) and place.lower() in words:
        return words.index(place.lower())
    if not isinstance(place, int) or not -len(names) <= place < len(names):
        raise InputError(f"There is no {title} {quote_word(str(place))}: the {title}s are 0 to {len(names) - 1}.")
    return place % len(names)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers along axes whose places have names."""

    values: Array | Floats
    axes: Mapping[str, Sequence[str]]
    """The names along each axis, by its title."""

    def at(self, *places: Place) -> "float | Numbers":
        """Return the number at these places along the first axes, or the numbers along the others."""
        if len(places) > len(self.axes):
            raise InputError(f"There are at most {len(self.axes)} places here: {', '.join(self.axes)}.")
        found = zip(self.axes.items(), places, strict=False)
        values = self.values[tuple(find_place(names, place, title) for (title, names), place in found)]
        return Numbers(values, dict(list(self.axes.items())[len(places) :])) if values.ndim else float(values)

    @property
    def labels(self) -> list[list[str]]:
        """The names along each axis; tokens with their numbers below the line."""
        axes = self.axes.items()
        return [list(names) if title in ("layer", "head") else token_names(names) for title, names in axes]

    @property
    def best(self) -> tuple[int, ...]:
        """The place of the largest number."""
        return tuple(map(int, np.unravel_index(int(np.nanargmax(self.values)), self.values.shape)))

    def name(self, place: Sequence[int]) -> str:
        """Return a place by its labels, such as `layer 3 → head 1`."""
        return " → ".join(labels[i] for labels, i in zip(self.labels, place, strict=True))


def _once(function: Callable[..., Found]) -> Callable[..., Found]:
    """Compute a function of a state and places once for as long as the state is held."""
    kept: WeakKeyDictionary[LinkedView, dict[tuple[Any, ...], Found]] = WeakKeyDictionary()

    @wraps(function)
    def compute(view: LinkedView, *places: Any) -> Found:
        found = kept.setdefault(view, {})
        if places not in found:
            found[places] = function(view, *places)
        return found[places]

    return compute


def _find(values: Mapping[Any, Found], name: Place, what: str) -> Found:
    if name not in values:
        raise InputError(f"There is no {what} {quote_word(str(name))}: those are {join_words(list(map(str, values)))}.")
    return values[name]


def _token(view: LinkedView, place: Place) -> int:
    return find_place(view.run.tokens, place, "token")


def _by_head(view: LinkedView, values: Array | Floats, *token_axes: str) -> Numbers:
    """Name the axes of an array (L, H, …), whose further ones are tokens."""
    n_layers, n_heads = view.config.n_layers, view.config.n_heads
    heads = {"layer": [f"layer {i}" for i in range(n_layers)], "head": [f"head {i}" for i in range(n_heads)]}
    return Numbers(values, heads | dict.fromkeys(token_axes, view.run.tokens))


def _focus_row(view: LinkedView, factor: float = 1.0, added: float = 0.0) -> Floats:
    """Return the softmax of the linked query's scores, scaled and shifted: (T,)."""
    scores = _trace(view, view.focus.layer)["attn.scores"][view.focus.head, view.focus.query].astype(np.float64)
    powers: Floats = np.exp(factor * (scores - scores.max()) + added)
    powers /= powers.sum()
    return powers


def _focus_weights(view: LinkedView) -> Floats:
    row: Floats = view.run.pattern(view.focus.layer)[view.focus.head, view.focus.query].astype(np.float64)
    return row


def _lead(view: LinkedView, row: Floats) -> float:
    """Return the linked key's weight over the largest other one."""
    return float(row[view.focus.key] / np.delete(row, view.focus.key).max())


def _seeds(view: LinkedView) -> dict[str, Any]:
    return {"seed": view.values["seed"], "causal": view.values["causal"]}


@_once
def _trace(view: LinkedView, layer: int) -> LayerRun:
    changes = view.lab.fitted_changes.applied
    return trace_layer(view.encoder, view.batch, view.lab.sentence, layer, interventions=changes, **_seeds(view))


def _products_deviation(view: LinkedView) -> float:
    """Return the standard deviation of the link's head's q · k."""
    trace, head = _trace(view, view.focus.layer), view.focus.head
    q, k = (trace[f"attn.{name}"][head][~view.run.padding].astype(np.float64) for name in "qk")
    return float((q @ k.T).std())


def _scores_deviation(view: LinkedView) -> float:
    """Return the standard deviation of the link's head's scores q · k / √d_head."""
    scores, real = _trace(view, view.focus.layer)["attn.scores"][view.focus.head], ~view.run.padding
    return float(scores[real][:, real].astype(np.float64).std())


def _decoder_block(view: LinkedView, part: Place | None = None) -> float:
    """Return the parameters of a decoder block, or of a part such as cross_attn."""
    prefix, parts = "decoder.layers.0.", dict[str, int]()
    for term in count_encoder_decoder(view.config, 1):
        if term.name.startswith(prefix):
            name = term.name.removeprefix(prefix).split(".")[0]
            parts[name] = parts.get(name, 0) + term.count
    return sum(parts.values()) if part is None else _find(parts, part, "part of a decoder block")


def _count_shape(view: LinkedView, name: Place) -> float:
    """Return how many numbers an intermediate has, such as 'attn.scores'."""
    shapes = list_shapes(view.config, 1, view.batch.ids.shape[1], view.values["causal"])
    return math.prod(_find({key.removeprefix("layers.0."): shape for key, shape in shapes}, name, "intermediate"))


@_once
def _effect(view: LinkedView, layer: int, head: int) -> float:
    """Return how far the sentence vector moves without a head, as a share."""
    changes = (*view.lab.fitted_changes.applied, Change("zero", layer, head))
    after = encoder_run.run(view.encoder, view.batch, view.lab.sentence, interventions=changes, **_seeds(view))
    return float(sentence_change(view.run, after).relative)


_ROUNDING = 1e-5
"""A smaller share is rounding, in float32."""


@_once
def _moves(view: LinkedView, replaced: int) -> Array:
    """Return how far every real token's output moves if one token's vector is reversed, as a share: (T,)."""
    rows = read_rows(view.encoder, view.batch, [view.lab.sentence], **_seeds(view))
    before = run_rows(view.encoder, rows, end=0)
    after = before.clone()
    after[0, replaced] = before[0, replaced].flip(-1)
    trace = intervention_trace(
        view.encoder,
        view.batch,
        view.lab.sentence,
        [view.lab.fitted_changes.applied],
        sources=None,
        keep=lambda _: False,
        **_seeds(view),
    )
    one, other = (run_rows(view.encoder, rows.at(0, x), trace)[0].cpu().numpy() for x in (before, after))
    share: Array = np.linalg.norm(other - one, axis=-1) / np.linalg.norm(one, axis=-1)
    return np.where(share > _ROUNDING, share, 0.0)[~view.run.padding]


@_once
def _swap_by_word(view: LinkedView, first: int, second: int) -> float:
    """Return the largest change of a word's own output if two tokens swap places."""
    swap = positions.swap_words(view.encoder, view.batch, view.lab.sentence, first, second, **_seeds(view))
    return float((swap.bare if view.config.positions == "none" else swap.placed).max())


@_once
def _swap_by_place(view: LinkedView, first: int, second: int) -> float:
    """Return the largest change of the output at a place if two tokens swap places."""
    rows = read_rows(view.encoder, view.batch, [view.lab.sentence], **_seeds(view))
    x = rows.x.clone()
    x[0, [first, second]] = rows.x[0, [second, first]]
    before, after = (run_rows(view.encoder, replace(rows, x=each))[0].cpu() for each in (rows.x, x))
    return float((after - before).abs()[torch.from_numpy(~view.run.padding)].max())


@_once
def _depths(view: LinkedView) -> SentenceDepths:
    return read_depths(view.encoder, view.batch, **_seeds(view))


_CROSS_POINTS = {"queries": "cross_attn.q", "keys": "cross_attn.k", "values": "cross_attn.v", "masked": "self_attn.q"}


@_once
def _cross_moves(view: LinkedView, part: Place) -> float:
    """Return how far a part of a decoder's first attentions moves, as a share, if the source is reversed."""
    point = f"decoder.layers.0.{_find(_CROSS_POINTS, part, 'part of a decoder block')}"
    n_targets = 4
    model = EncoderDecoder(view.config, n_targets, view.values["seed"]).requires_grad_(False).eval()
    target, one = torch.arange(n_targets)[None], view.batch.ids[view.lab.sentence : view.lab.sentence + 1]
    found = []
    for source in (one, one.flip(-1)):
        trace = Trace(point.__eq__)
        model(source, target, trace=trace)
        found.append(trace[point].double())
    return float((found[1] - found[0]).norm() / found[0].norm())


def _gradient_kept(view: LinkedView, encoder: Place) -> float:
    """Return the first over the last layer's gradient in an encoder of Gradient flow."""
    flow = gradient_scene(view).now.flow(_find(BY_NAME, encoder, "encoder"))
    lengths = flow["whole layer"]
    return float(lengths[0] / lengths[-1])


def _recipe(view: LinkedView) -> Recipe:
    values = {name: view.values[f"training_{name}"] for name in RECIPE}
    return Recipe(task=TASK_TITLES[view.values["training_task"]], seed=view.values["seed"], **values)


def _lowest_loss(view: LinkedView) -> float:
    """Return the lowest loss that the label smoothing leaves possible, in nats."""
    recipe = _recipe(view)
    share = recipe.label_smoothing
    smoothed = torch.full((1, recipe.n_symbols), share / recipe.n_symbols, dtype=torch.float64)
    smoothed[0, 0] += 1 - share
    return float(cross_entropy(smoothed.clamp_min(1e-300).log(), torch.zeros(1, dtype=torch.int64), share))


def _trained_config(view: LinkedView) -> ModelConfig:
    """Return the sidebar's architecture in the training's sizes; the training adds its task's vocabulary."""
    return model_config(shape_to_train(view.values), 1)


_MOST_PARAMETERS = 200_000
"""Of what an exercise trains, in a few seconds."""


def _small_recipe(view: LinkedView) -> Recipe:
    recipe = _recipe(view)
    return replace(recipe, n_train=min(recipe.n_train, 1024), n_validation=128, steps=min(recipe.steps, 400))


def _trained_variant(view: LinkedView, encoder: Place) -> float:
    """Return the accuracy of an encoder of Gradient flow after the link's training."""
    config, variant = _trained_config(view), _find(BY_NAME, encoder, "encoder")
    return _train(variant_config(common_config(config, config.n_layers), variant), _small_recipe(view))


@lru_cache(maxsize=64)
def _train(config: ModelConfig, recipe: Recipe) -> float:
    n = count_parameters(config).total
    if n > _MOST_PARAMETERS:
        raise InputError(f"An exercise trains models of up to {_MOST_PARAMETERS:,} parameters, not {n:,}.")
    trainer = Trainer(replace(config, dropout=0.0), recipe, watch=False)
    for _ in trainer.run():
        pass
    return float(evaluate(trainer.network, trainer.data.validation, recipe, trainer.device).accuracy)


def _setting(view: LinkedView, key: Place) -> float | str:
    if key not in view.values:
        raise InputError(f"There is no parameter {quote_word(str(key))}.")
    value = view.values[str(key)]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else write(value)


def _learnt(view: LinkedView, capability: Place) -> float:
    shares = shares_of(params.spec_of(view.values))
    if capability not in shares:
        raise InputError(f"Nobody has measured {quote_word(str(capability))} for this encoder.")
    return fmean(shares[str(capability)])


def _network(view: LinkedView, name: Place) -> float | str:
    trained: TrainedNetwork | None = getattr(view, "trained", None)
    if trained is None:
        raise InputError("No network has been trained in this session.")
    if name == "now":
        return float(view.share_right)  # type: ignore[attr-defined]
    results = trained.results
    found: dict[Place, float | str] = {
        "task": trained.task.name,
        "steps": results.kept_step,
        "right": results.validation_accuracy,
        "baseline": results.baseline,
    }
    if name not in found:
        raise InputError(
            f"There is no {quote_word(str(name))} of a network: those are {join_words(list(map(str, found)))}."
        )
    return found[name]


QUANTITIES: dict[str, Callable[..., Any]] = {
    # attention
    "pattern": lambda view, *at: _by_head(view, view.run.patterns(), "query", "key").at(*at),
    "pattern.total": lambda view, *at: _by_head(view, view.run.patterns().sum(axis=(2, 3), dtype=np.float64)).at(*at),
    "pattern.allowed": lambda view: (view.run.allowed_in(view.focus.layer) & ~view.run.padding[:, None]).sum(),
    "keys": lambda view, query: view.run.allowed_in(view.focus.layer)[_token(view, query)].sum(),
    "received": lambda view, *at: _by_head(view, view.run.patterns()[:, :, ~view.run.padding].mean(axis=2), "token").at(
        *at
    ),
    "entropy": lambda view, *at: _by_head(view, attention.entropy(view.run.patterns()), "query").at(*at),  # bits
    "entropy.share": lambda view, *at: _by_head(view, attention.pattern_spread(view.run)).at(*at),  # of the highest
    "heads.focus": lambda view, *at: _by_head(view, view.run.patterns()[:, :, view.focus.query, view.focus.key]).at(
        *at
    ),
    "heads.rule": lambda view, rule, *at: _by_head(view, attention.measure_habits([view.run]).scores[rule]).at(*at),
    "effect": _effect,
    # the weight of the link's head, query and key
    "weight": lambda view: _focus_weights(view)[view.focus.key],
    "weight.tempered": lambda view, percent: _focus_row(view, 100 / percent)[view.focus.key],
    "weight.undivided": lambda view: _focus_row(view, math.sqrt(view.config.head_width))[view.focus.key],
    "weight.shifted": lambda view, added: _focus_row(view, 1, added)[view.focus.key],
    "weight.lead": lambda view: _lead(view, _focus_weights(view)),
    "weight.lead_tempered": lambda view, percent: _lead(view, _focus_row(view, 100 / percent)),
    "weight.most": lambda view: _focus_weights(view).max(),
    "weight.most_token": lambda view: view.run.tokens[int(_focus_weights(view).argmax())],
    "deviation.products": _products_deviation,
    "deviation.scores": _scores_deviation,
    # outputs
    "moves": lambda view, replaced, token: _moves(view, _token(view, replaced))[_token(view, token)],
    "moves.count": lambda view, *token: (_moves(view, _token(view, *token or (view.focus.query,))) > 0).sum(),
    "swap.by_word": _swap_by_word,
    "swap.by_place": _swap_by_place,
    "stream.length": lambda view, depth: np.median(streams.lengths(view.run)["residual"][depth].astype(np.float64)),
    "output.length": lambda view: np.median(streams.l2(view.run.arrays["final"][~view.run.padding])),
    "similarity": lambda view, one, other: _depths(view).similarity("mean")[one, other],
    "similarity.padded": lambda view, one, other: _depths(view).similarity("mean with padding")[one, other],
    "cross.moves": _cross_moves,
    # text and link
    "tokens": lambda view: len(view.batch.tokens[view.lab.sentence]),
    "padding.share": lambda view: 1 - view.batch.mask.float().mean(),
    "focus": lambda view, name: _find(vars(view.focus), name, "place"),
    # architecture
    "config": lambda view, name: _find(vars(view.config), name, "size or choice"),
    "d_head": lambda view: view.config.head_width,
    "parameters.total": lambda view: count_parameters(view.config).total,
    "parameters.of": lambda view, part: _find(
        count_parameters(view.config).by(attrgetter("component")), part, "component"
    ),
    "parameters.block": lambda view: count_parameters(view.config).by(attrgetter("layer"))[0],
    "parameters.decoder_block": _decoder_block,
    "positions.cosine": lambda view, position: streams.cosine_between_tokens(positions.first_rows(view.encoder, 64))[
        0, position
    ],
    "positions.wavelength": lambda view, pair: wavelengths(
        view.config.d_model, doubled=view.config.positions == "sinusoidal-doubled"
    )[pair],
    "shape.count": _count_shape,
    "flops.overtake": lambda view: attention_overtakes(view.config) or math.inf,  # tokens
    # training
    "gradient.kept": _gradient_kept,
    "rate": lambda view, step: learning_rate(step, _recipe(view)) / _recipe(view).lr,  # from step 1, of the peak
    "training": lambda view, name: _find(vars(_recipe(view)), name, "number of a training"),
    "loss.floor": _lowest_loss,
    "trained": lambda view: _train(_trained_config(view), _small_recipe(view)),  # accuracy
    "trained.encoder": _trained_variant,
    "trained.parameters": lambda view: (
        count_parameters(architecture(_trained_config(view), _recipe(view), make_data(_small_recipe(view)))).total
    ),
    # what lessons ask of the visitor's own state
    "setting": _setting,
    "learnt": _learnt,  # share right of a capability
    "network": _network,
}
"""A number, word or `Numbers` of a state and of the places in brackets, by name."""
