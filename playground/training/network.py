"""What is trained, and its scores: an encoder with a head, or an encoder–decoder; a run's history."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

import torch
from torch import Tensor, nn

from playground.accounting import count_encoder_decoder, count_parameters
from playground.config import ModelConfig
from playground.model import Encoder, EncoderDecoder, Trace, causal_and_padding, causal_mask
from playground.model.init import Linear, initial_weights
from playground.model.trace import UNTRACED, or_untraced
from playground.runs.arrays import Array, stack_layers
from playground.runs.pair_run import ATTENTION_POINTS
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, Data, Examples, Task
from playground.training.tasks.task import IGNORE


class Tagger(nn.Module):
    """An encoder and a linear head: a score for each class at every token."""

    def __init__(self, config: ModelConfig, n_classes: int, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with initial_weights(self, seed, config.initialisation, drawn="encoder"):
            self.encoder = Encoder(config, seed)
            self.head = Linear(config.d_model, n_classes)

    def forward(self, ids: Tensor, mask: Tensor | None = None, trace: Trace | None = UNTRACED) -> Tensor:
        """ids (B, T) → logits (B, T, C); a trace notes `encoder.…` and `logits`."""
        trace = or_untraced(trace)
        x = self.encoder(ids, mask, trace.scope("encoder"))  # (B, T, d_model)
        return trace.record("logits", self.head(x))


Network = Tagger | EncoderDecoder


def build_network(config: ModelConfig, task: Task, n_classes: int, seed: int | None) -> Network:
    """Return the untrained network of a task; without a seed, its shapes."""
    return EncoderDecoder(config, n_classes, seed) if task.has_decoder else Tagger(config, n_classes, seed)


def count_network(config: ModelConfig, task: Task, n_classes: int) -> int:
    """Count the parameters of a task's network."""
    if task.has_decoder:
        return count_encoder_decoder(config, n_classes).total
    return count_parameters(config).total + (config.d_model + 1) * n_classes


Measured = Literal["accuracy", "loss"]


@dataclass(frozen=True)
class Measure:
    """Loss in nats and share right."""

    loss: float
    accuracy: float


@dataclass(frozen=True)
class Evaluation:
    """Both sets in eval mode, with plain cross-entropy."""

    step: int
    train: Measure
    """Of as many sequences as for validation."""
    validation: Measure
    tokens_per_second: float
    """Since the evaluation before."""


@dataclass
class History:
    """What a run has shown; lists only grow."""

    loss: list[float] = field(default_factory=list)
    """Of every step, in nats."""
    lr: list[float] = field(default_factory=list)
    grad_norm: list[float] = field(default_factory=list)
    """Before clipping."""
    evaluations: list[Evaluation] = field(default_factory=list)
    snapshots: dict[int, Mapping[str, Array]] = field(default_factory=dict)
    """By step, attention on the first validation sequence: (L, H, Tq, Tk), `self`, or `encoder self` and others."""

    @property
    def n_bytes(self) -> int:
        """Memory, in bytes."""
        patterns = sum(each.nbytes for patterns in dict(self.snapshots).values() for each in patterns.values())
        return patterns + 3 * 32 * len(self.loss)  # a float of Python's a step and curve, and the list's pointer to it

    def at(self, step: int) -> Evaluation | None:
        """Return the evaluation after a step, if any."""
        return next((evaluation for evaluation in self.evaluations if evaluation.step == step), None)

    def series(self, measured: Measured) -> tuple[list[int], list[float], list[float]]:
        """Return the steps of evaluations, and what was measured on the training and the validation set."""
        looks = list(self.evaluations)
        train, validation = ([vars(vars(look)[name])[measured] for look in looks] for name in ("train", "validation"))
        return [look.step for look in looks], train, validation

    def copy(self) -> "History":
        """Return all of it as of now."""
        n = len(self.grad_norm)  # the last that a step appends to
        return History(self.loss[:n], self.lr[:n], self.grad_norm[:n], list(self.evaluations), dict(self.snapshots))


N_EVALUATIONS = 20
"""Of a run, beside the one before the first step."""

MAX_SNAPSHOT_NUMBERS = 8_000_000
"""Attention weights that a run saves."""

_TOKENS = 8_192
"""Of one pass while evaluating."""


def scores(network: Network, batch: Examples, recipe: Recipe, trace: Trace = UNTRACED) -> Tensor:
    """Return logits, (B, T', C), with the masks that the recipe leaves on."""
    if isinstance(network, EncoderDecoder):
        masks = (batch.mask[:, None], batch.decoder_mask[:, None]) if recipe.mask_padding else (None, None)
        return cast(Tensor, network(batch.ids, batch.decoder_ids, *masks, trace))
    return cast(Tensor, network(batch.ids, attention_mask(batch, recipe), trace))


def attention_mask(batch: Examples, recipe: Recipe) -> Tensor | None:
    """Return an encoder's mask, (B or 1, 1 or T, T), True = may attend; None: everywhere."""
    is_padded = recipe.mask_padding and not bool(batch.mask.all())
    if not (recipe.causal and TASKS[recipe.task].predicts_next):
        return batch.mask[:, None] if is_padded else None
    return causal_and_padding(batch.mask) if is_padded else causal_mask(batch.ids.shape[1], batch.ids.device)


def select_scored(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Keep the positions whose answer is asked for: (B, T, C), (B, T) → (S, C), (S,)."""
    logits, targets = logits.flatten(0, 1), targets.flatten()
    is_scored = targets != IGNORE
    return (logits, targets) if bool(is_scored.all()) else (logits[is_scored], targets[is_scored])


def evaluate(network: Network, examples: Examples, recipe: Recipe, device: torch.device) -> Measure:
    """Measure a network in eval mode over all positions whose answer is asked for."""
    rows = max(1, _TOKENS // examples.ids.shape[1])
    loss, right, n = 0.0, 0, 0
    with torch.inference_mode():
        for start in range(0, len(examples.ids), rows):
            batch = examples[slice(start, start + rows)].to(device)
            logits, targets = select_scored(scores(network, batch, recipe), batch.targets)
            loss += torch.nn.functional.cross_entropy(logits, targets, reduction="sum").item()
            right += int((logits.argmax(dim=-1) == targets).sum())
            n += len(targets)
    return Measure(loss / max(n, 1), right / max(n, 1))


def evaluate_unbatched(network: Network, examples: Examples, recipe: Recipe, device: torch.device) -> Measure:
    """Measure every sequence alone, later characters hidden."""
    masked = replace(recipe, causal=True, mask_padding=True)
    lengths, loss, right, n = examples.mask.sum(1), 0.0, 0.0, 0
    for length in sorted(set(lengths.tolist())):  # those of one length pad each other as little as one alone
        part = examples[(lengths == length).nonzero().flatten()]
        measure, n_part = evaluate(network, part, masked, device), part.n_answers
        loss, right, n = loss + n_part * measure.loss, right + n_part * measure.accuracy, n + n_part
    return Measure(loss / max(n, 1), right / max(n, 1))


def evaluation_steps(steps: int, n: int = N_EVALUATIONS) -> frozenset[int]:
    """Return the `n` evenly spaced steps that are evaluated, and 0."""
    return frozenset(round(steps * i / n) for i in range(n + 1))


def snapshot_steps(config: ModelConfig, steps: int, data: Data) -> frozenset[int]:
    """Return those of these steps whose attention is saved, within `MAX_SNAPSHOT_NUMBERS`."""
    sequence = data.validation[slice(0, 1)]
    n, n_target = sequence.ids.shape[1], sequence.targets.shape[1]
    pairs = n**2 + n_target**2 + n_target * n if data.task.has_decoder else n**2
    candidates = sorted(evaluation_steps(steps))
    n_saved = min(len(candidates), MAX_SNAPSHOT_NUMBERS // (config.n_layers * config.n_heads * pairs))
    if n_saved < 2:
        return frozenset()
    return frozenset(candidates[round(i * (len(candidates) - 1) / (n_saved - 1))] for i in range(n_saved))


def take_snapshot(network: Network, data: Data, recipe: Recipe, device: torch.device) -> dict[str, Array]:
    """Return every head's attention on the first validation sequence."""
    trace = Trace(keep=lambda name: name.endswith(".pattern"))
    with torch.inference_mode():
        scores(network, data.validation[slice(0, 1)].to(device), recipe, trace)
    points = {"self": "encoder.layers.{}.attn.pattern"} if isinstance(network, Tagger) else ATTENTION_POINTS
    layers = range(network.config.n_layers)
    return {name: stack_layers(trace, point, layers) for name, point in points.items()}
