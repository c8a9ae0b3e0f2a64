"""Named numbers of a state, `pattern[3,1,it,animal]`: places by number or by name, of equal tokens the first."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from statistics import fmean
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from playground.accounting import count_parameters
from playground.accounting.counts import attention_overtakes, count_encoder_decoder
from playground.accounting.shapes import list_shapes
from playground.analysis import attention, positions, streams
from playground.analysis.comparison import sentence_change
from playground.analysis.gradients import BY_NAME, common_config, variant_config
from playground.analysis.sentences import Pooling, SentenceDepths
from playground.charts.names import token_names
from playground.config import ModelConfig
from playground.errors import InputError, list_nearest
from playground.language.family import shares_of
from playground.link.kinds import write
from playground.link.lab import Lab, fill_in, once, run_sentence
from playground.link.opening import LinkedView
from playground.link.params import RECIPE, TASK_TITLES, model_config, spec_of
from playground.link.query import shape_to_train
from playground.model import EncoderDecoder, Trace
from playground.model.changes import Change
from playground.model.positions import wavelengths
from playground.runs.arrays import Array
from playground.runs.encoder_run import LayerRun, intervention_trace, read_rows, run_rows
from playground.text.wording import quote_word
from playground.training.network import evaluate
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import make_data
from playground.training.trained_network import TrainedNetwork
from playground.training.trainer import Trainer, cross_entropy, learning_rate
from playground.views.gradient_flow import run_back
from playground.views.similarity import list_sentences

Found = TypeVar("Found")

Floats = NDArray[np.float64]

Place = int | str
"""A number from 0, or a token."""


def find_place(names: Sequence[str], place: Place, title: str) -> int:
    """Return a place along an axis from 0; raises `InputError`."""
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

    def at(self, *places: Place) -> "float | Numbers":
        """Return what stands at places along the first axes."""
        if len(places) > len(self.axes):
            raise InputError(f"There are at most {len(self.axes)} places here: {', '.join(self.axes)}.")
        found = zip(self.axes.items(), places, strict=False)
        values = self.values[tuple(find_place(names, place, title) for (title, names), place in found)]
        return Numbers(values, dict(list(self.axes.items())[len(places) :])) if values.ndim else float(values)

    @property
    def labels(self) -> list[list[str]]:
        """The axes' names, of tokens with their numbers."""
        axes = self.axes.items()
        return [list(names) if title in ("layer", "head") else token_names(names) for title, names in axes]

    @property
    def best(self) -> tuple[int, ...]:
        """The place of the largest number."""
        return tuple(map(int, np.unravel_index(int(np.nanargmax(self.values)), self.values.shape)))

    def name(self, place: Sequence[int]) -> str:
        """Return a place by its labels, such as `layer 3 → head 1`."""
        return " → ".join(labels[i] for labels, i in zip(self.labels, place, strict=True))


def _find(values: Mapping[Any, Found], name: Place, what: str) -> Found:
    if name not in values:
        raise InputError(f"There is no {what} {quote_word(str(name))}: {list_nearest(name, map(str, values))}.")
    return values[name]


def _token(view: LinkedView, place: Place) -> int:
    return find_place(view.run.tokens, place, "token")


def _by_head(values: Callable[[LinkedView], Any], *token_axes: str) -> Callable[..., Any]:
    """Return the quantity of an array (L, H, …), whose further axes are tokens."""

    def find(view: LinkedView, *places: Place) -> Any:
        sizes = {"layer": view.config.n_layers, "head": view.config.n_heads}
        axes = {title: [f"{title} {i}" for i in range(size)] for title, size in sizes.items()}
        return Numbers(values(view), axes | dict.fromkeys(token_axes, view.run.tokens)).at(*places)

    return find


def _focus_row(view: LinkedView, factor: float = 1.0, added: float = 0.0) -> Floats:
    """Return the softmax of the linked query's scores, scaled and shifted: (T,)."""
    scores = _layer(view)["attn.scores"][view.focus.head, view.focus.query].astype(np.float64)
    powers: Floats = np.exp(factor * (scores - scores.max()) + added)
    powers /= powers.sum()
    return powers


def _focus_weights(view: LinkedView) -> Floats:
    row: Floats = view.run.pattern(view.focus.layer)[view.focus.head, view.focus.query].astype(np.float64)
    return row


def _lead(view: LinkedView, row: Floats) -> float:
    return float(row[view.focus.key] / np.delete(row, view.focus.key).max())


def _layer(view: LinkedView) -> LayerRun:
    return view.lab.layer(view.focus.layer)


def _scores(view: LinkedView) -> NDArray[np.float64]:
    """Return the link's head's scores of real tokens, (T, T)."""
    scores, real = _layer(view)["attn.scores"][view.focus.head], ~view.run.padding
    return scores[real][:, real].astype(np.float64)  # type: ignore[no-any-return]


def _scores_deviation(view: LinkedView) -> float:
    return float(_scores(view).std())


def _scores_asymmetry(view: LinkedView) -> float:
    """Return the largest difference of two tokens' scores of each other, in standard deviations."""
    return float(np.abs(_scores(view) - _scores(view).T).max() / _scores_deviation(view))


def _decoder_block(view: LinkedView, part: Place | None = None) -> float:
    prefix, parts = "decoder.layers.0.", dict[str, int]()
    for term in count_encoder_decoder(view.config, 1):
        if term.name.startswith(prefix):
            name = term.name.removeprefix(prefix).split(".")[0]
            parts[name] = parts.get(name, 0) + term.count
    return sum(parts.values()) if part is None else _find(parts, part, "part of a decoder block")


def _parameters_by(view: LinkedView, part: str) -> Mapping[Any, int]:
    return count_parameters(view.config).by(attrgetter(part))


def _wavelength(view: LinkedView, pair: int) -> float:
    return float(wavelengths(view.config.d_model, doubled=view.config.positions == "sinusoidal-doubled")[pair])


def _count_shape(view: LinkedView, name: Place) -> float:
    shapes = list_shapes(view.config, 1, view.batch.ids.shape[1], view.values["causal"])
    return math.prod(_find({key.removeprefix("layers.0."): shape for key, shape in shapes}, name, "intermediate"))


def _effect(view: LinkedView, layer: int, head: int) -> float:
    """Return how far the sentence vector moves without a head, as a share."""
    key = view.lab.run_key
    after = key._replace(interventions=(*key.interventions, Change("zero", layer, head)))
    return sentence_change(view.run, run_sentence(view.lab.source, after))


_ROUNDING = 1e-5
"""A share, in float32."""


def _seeds(lab: Lab) -> dict[str, Any]:
    return {"seed": lab["seed"], "causal": lab["causal"]}


@once
def _moves(lab: Lab, replaced: int) -> Array:
    """Return how far each output moves if one token's vector is reversed, as a share: (T,)."""
    rows = read_rows(lab.encoder, lab.batch, [lab.sentence], **_seeds(lab))
    before = run_rows(lab.encoder, rows, end=0)
    after = before.clone()
    after[0, replaced] = before[0, replaced].flip(-1)
    made, still = [lab.fitted_changes.applied], dict[str, Any](sources=None, keep=lambda _: False)
    trace = intervention_trace(lab.encoder, lab.batch, lab.sentence, made, **still, **_seeds(lab))
    one, other = (run_rows(lab.encoder, rows.at(0, x), trace)[0].cpu().numpy() for x in (before, after))
    share: Array = np.linalg.norm(other - one, axis=-1) / np.linalg.norm(one, axis=-1)
    return np.where(share > _ROUNDING, share, 0.0)[~lab.run.padding]


@once
def _swap_by_word(lab: Lab, first: int, second: int) -> float:
    """Return the largest change of a word's output if two tokens swap places."""
    swap = positions.swap_words(lab.encoder, lab.batch, lab.sentence, first, second, **_seeds(lab))
    return float((swap.bare if lab.config.positions == "none" else swap.placed).max())


@once
def _swap_by_place(lab: Lab, first: int, second: int) -> float:
    """Return the same of the output at a place."""
    rows = read_rows(lab.encoder, lab.batch, [lab.sentence], **_seeds(lab))
    x = rows.x.clone()
    x[0, [first, second]] = rows.x[0, [second, first]]
    before, after = (run_rows(lab.encoder, replace(rows, x=each))[0].cpu() for each in (rows.x, x))
    return float((after - before).abs()[torch.from_numpy(~lab.run.padding)].max())


@once
def _depths(lab: Lab, listed: str) -> SentenceDepths:
    return list_sentences(lab, listed).depths


def _similarity(view: LinkedView, pooling: Pooling, one: int, other: int) -> float:
    return float(_depths(view.lab, view.values["similarity_list"]).similarity(pooling)[one, other])


_CROSS_POINTS = {"queries": "cross_attn.q", "keys": "cross_attn.k", "values": "cross_attn.v", "masked": "self_attn.q"}


def _cross_moves(view: LinkedView, part: Place) -> float:
    """Return how far a part moves if the source is reversed, as a share."""
    point = f"decoder.layers.0.{_find(_CROSS_POINTS, part, 'part of a decoder block')}"
    n_targets = 4
    model = EncoderDecoder(view.config, n_targets, view.values["seed"]).requires_grad_(False).eval()
    source, found = view.batch.ids[view.lab.sentence : view.lab.sentence + 1], []
    for each in (source, source.flip(-1)):
        trace = Trace(point.__eq__)
        model(each, torch.arange(n_targets)[None], trace=trace)
        found.append(trace[point].double())
    return float((found[1] - found[0]).norm() / found[0].norm())


def _gradient_kept(view: LinkedView, encoder: Place) -> float:
    variant = _find(BY_NAME, encoder, "encoder")
    lengths = run_back(view.lab.without_changes, variant, view.values["gradient_layers"])["whole layer"]
    return float(lengths[0] / lengths[-1])


def _recipe(view: LinkedView) -> Recipe:
    values = {name: view.values[f"training_{name}"] for name in RECIPE}
    return Recipe(task=TASK_TITLES[view.values["training_task"]], seed=view.values["seed"], **values)


def _lowest_loss(view: LinkedView) -> float:
    n, share = _recipe(view).n_symbols, _recipe(view).label_smoothing
    smoothed = torch.full((1, n), share / n, dtype=torch.float64)
    smoothed[0, 0] += 1 - share
    return float(cross_entropy(smoothed.clamp_min(1e-300).log(), torch.zeros(1, dtype=torch.int64), share))


_MOST_PARAMETERS = 200_000


def _small_recipe(view: LinkedView) -> Recipe:
    recipe = _recipe(view)
    return replace(recipe, n_train=min(recipe.n_train, 1024), n_validation=128, steps=min(recipe.steps, 400))


def _trained(view: LinkedView, encoder: Place = "") -> float:
    """Return the accuracy of the sidebar's shape, or of an encoder of Gradient flow."""
    config = model_config(shape_to_train(view.values), 1)
    if encoder:
        config = variant_config(common_config(config, config.n_layers), _find(BY_NAME, encoder, "encoder"))
    return _train(config, _small_recipe(view))


def _trained_parameters(view: LinkedView) -> float:
    config = model_config(shape_to_train(view.values), 1)
    return count_parameters(architecture(config, _recipe(view), make_data(_small_recipe(view)))).total


@lru_cache(maxsize=64)
def _train(config: ModelConfig, recipe: Recipe) -> float:
    if (n := count_parameters(config).total) > _MOST_PARAMETERS:
        raise InputError(f"An exercise trains models of up to {_MOST_PARAMETERS:,} parameters, not {n:,}.")
    trainer = Trainer(replace(config, dropout=0.0), recipe, watch=False)
    for _ in trainer.run():
        pass
    return float(evaluate(trainer.network, trainer.data.validation, recipe, trainer.device).accuracy)


def _setting(view: LinkedView, key: Place) -> float | str:
    value = _find(view.values, key, "parameter")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else write(value)


def _learnt(view: LinkedView, capability: Place) -> float:
    return fmean(_find(shares_of(spec_of(view.values)), capability, "capability that was measured"))


def _network(view: LinkedView, name: Place) -> float | str:
    trained: TrainedNetwork | None = getattr(view, "trained", None)
    if trained is None:
        raise InputError("No network has been trained in this session.")
    if name == "now":
        return float(view.share_right)  # type: ignore[attr-defined]
    names = {"steps": "kept_step", "right": "validation_accuracy"}
    found: dict[str, float | str] = {"task": trained.task.name, **vars(trained.results)}
    return _find(found, names.get(str(name), name), "number of a network")


QUANTITIES: dict[str, Callable[..., Any]] = {
    # attention
    "pattern": _by_head(lambda view: view.run.patterns(), "query", "key"),
    "pattern.total": _by_head(lambda view: view.run.patterns().sum(axis=(2, 3), dtype=np.float64)),
    "pattern.allowed": lambda view: (view.run.allowed_in(view.focus.layer) & ~view.run.padding[:, None]).sum(),
    "keys": lambda view, query: view.run.allowed_in(view.focus.layer)[_token(view, query)].sum(),
    "received": _by_head(lambda view: view.run.patterns()[:, :, ~view.run.padding].mean(axis=2), "token"),
    "entropy": _by_head(lambda view: attention.entropy(view.run.patterns()), "query"),  # bits
    "entropy.share": _by_head(lambda view: attention.pattern_spread(view.run)),  # of the highest
    "heads.focus": _by_head(lambda view: view.run.patterns()[:, :, view.focus.query, view.focus.key]),
    "heads.rule": lambda view, rule, *at: _by_head(lambda _: attention.measure_habits([view.run]).scores[rule])(
        view, *at
    ),
    "effect": _effect,
    "moved": lambda view: sentence_change(view.lab.without_changes.run, view.run),  # by the changes
    # the weight of the link's head, query and key
    "weight": lambda view: _focus_weights(view)[view.focus.key],
    "weight.tempered": lambda view, percent: _focus_row(view, 100 / percent)[view.focus.key],
    "weight.undivided": lambda view: _focus_row(view, math.sqrt(view.config.head_width))[view.focus.key],
    "weight.shifted": lambda view, added: _focus_row(view, 1, added)[view.focus.key],
    "weight.lead": lambda view: _lead(view, _focus_weights(view)),
    "weight.lead_tempered": lambda view, percent: _lead(view, _focus_row(view, 100 / percent)),
    "weight.most": lambda view: _focus_weights(view).max(),
    "weight.most_token": lambda view: view.run.tokens[int(_focus_weights(view).argmax())],
    "deviation.products": lambda view: math.sqrt(view.config.head_width) * _scores_deviation(view),
    "deviation.scores": _scores_deviation,
    "scores.asymmetry": _scores_asymmetry,
    # outputs
    "moves": lambda view, replaced, token: _moves(view.lab, _token(view, replaced))[_token(view, token)],
    "moves.count": lambda view, *token: (_moves(view.lab, _token(view, *token or (view.focus.query,))) > 0).sum(),
    "swap.by_word": lambda view, *at: _swap_by_word(view.lab, *at),
    "swap.by_place": lambda view, *at: _swap_by_place(view.lab, *at),
    "stream.length": lambda view, depth: np.median(streams.lengths(view.run)["residual"][depth].astype(np.float64)),
    "output.length": lambda view: np.median(streams.l2(view.run.arrays["final"][~view.run.padding])),
    "similarity": lambda view, *pair: _similarity(view, "mean", *pair),
    "similarity.padded": lambda view, *pair: _similarity(view, "mean with padding", *pair),
    "answer.top": lambda view: fill_in(view.lab)[-1].max(),  # of the small English, for the hidden word
    "cross.moves": _cross_moves,
    # text and link
    "tokens": lambda view: len(view.batch.tokens[view.lab.sentence]),
    "padding.share": lambda view: 1 - view.batch.mask.float().mean(),
    "focus": lambda view, name: _find(vars(view.focus), name, "place"),
    # architecture
    "config": lambda view, name: _find(vars(view.config), name, "size or choice"),
    "d_head": lambda view: view.config.head_width,
    "parameters.total": lambda view: count_parameters(view.config).total,
    "parameters.of": lambda view, part: _find(_parameters_by(view, "component"), part, "component"),
    "parameters.block": lambda view: _parameters_by(view, "layer")[0],
    "parameters.decoder_block": _decoder_block,
    "positions.cosine": lambda view, i: streams.cosine_between_tokens(positions.first_rows(view.encoder, 64))[0, i],
    "positions.wavelength": _wavelength,
    "shape.count": _count_shape,
    "flops.overtake": lambda view: attention_overtakes(view.config) or math.inf,  # tokens
    # training
    "gradient.kept": _gradient_kept,
    "rate": lambda view, step: learning_rate(step, _recipe(view)) / _recipe(view).lr,  # from step 1, of the peak
    "training": lambda view, name: _find(vars(_recipe(view)), name, "number of a training"),
    "loss.floor": _lowest_loss,
    "trained": _trained,
    "trained.encoder": _trained,
    "trained.parameters": _trained_parameters,
    # what lessons ask of the visitor's own state
    "setting": _setting,
    "learnt": _learnt,  # share right of a capability
    "network": _network,
}
"""By name: of a state and the places in brackets, a number, word or `Numbers`."""
