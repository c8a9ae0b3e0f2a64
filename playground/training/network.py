"""Networks, their answers, a run's history. Legend: B sequences, T (Ts, Tt) tokens, C classes, S scored positions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Literal, cast

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model import Encoder, EncoderDecoder, Trace, causal_and_padding, causal_mask
from playground.model.changes import Change
from playground.model.init import Linear, initial_weights
from playground.model.interventions import InterventionTrace
from playground.model.trace import UNTRACED, or_untraced
from playground.runs.arrays import Array, stack_layers
from playground.runs.pair_run import ATTENTION_POINTS
from playground.text import Batch, Tokenizer
from playground.training.recipe import BOS_ID, EOS, EOS_ID, IGNORE, SPECIALS, Data, Examples, Recipe, Task
from playground.training.tasks import TASKS


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
    """Return a task's untrained network; without a seed, its shapes."""
    return EncoderDecoder(config, n_classes, seed) if task.has_decoder else Tagger(config, n_classes, seed)


def count_network(config: ModelConfig, task: Task, n_classes: int) -> int:
    """Count the parameters of a task's network."""
    return sum(parameter.numel() for parameter in build_network(config, task, n_classes, None).parameters())


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
    validation: Measure


@dataclass
class History:
    """What a run has shown."""

    loss: list[float] = field(default_factory=list)
    """Of every step, in nats."""
    lr: list[float] = field(default_factory=list)
    grad_norm: list[float] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    snapshots: dict[int, Mapping[str, Array]] = field(default_factory=dict)
    """By step, attention on the first validation sequence: (L, H, Tq, Tk), `self`, or `encoder self` and others."""

    @property
    def n_bytes(self) -> int:
        """Memory."""
        patterns = sum(each.nbytes for patterns in dict(self.snapshots).values() for each in patterns.values())
        return patterns + 3 * 32 * len(self.loss)  # a float of Python's a step and curve, and the list's pointer to it

    def at(self, step: int) -> Evaluation | None:
        """Return the evaluation after a step, if any."""
        return next((evaluation for evaluation in self.evaluations if evaluation.step == step), None)

    def series(self, measured: Measured) -> tuple[list[int], list[float], list[float]]:
        """Return evaluated steps, and what was measured on both sets."""
        looks = list(self.evaluations)
        train, validation = ([vars(vars(look)[name])[measured] for look in looks] for name in ("train", "validation"))
        return [look.step for look in looks], train, validation

    def copy(self) -> "History":
        """Return it as of now."""
        n = len(self.grad_norm)  # the last that a step appends to
        return History(self.loss[:n], self.lr[:n], self.grad_norm[:n], list(self.evaluations), dict(self.snapshots))


N_EVALUATIONS = 20
"""Of a run, and one before it."""

MAX_SNAPSHOT_NUMBERS = 8_000_000
"""Attention weights that a run saves."""

_TOKENS = 8_192
"""Of one pass while evaluating."""


def scores(network: Network, batch: Examples, recipe: Recipe, trace: Trace = UNTRACED) -> Tensor:
    """Return logits, (B, T', C), with the recipe's masks."""
    if isinstance(network, EncoderDecoder):
        masks = batch.mask[:, None], batch.decoder_mask[:, None]  # (B, 1, T), (B, 1, T')
        return cast(Tensor, network(batch.ids, batch.decoder_ids, *masks, trace))
    return cast(Tensor, network(batch.ids, attention_mask(batch, recipe), trace))


def attention_mask(batch: Examples, recipe: Recipe) -> Tensor | None:
    """Return an encoder's mask, (B or 1, 1 or T, T), True = may attend; None: everywhere."""
    is_padded = not bool(batch.mask.all())
    if not (recipe.causal and TASKS[recipe.task].predicts_next):
        return batch.mask[:, None] if is_padded else None
    return causal_and_padding(batch.mask) if is_padded else causal_mask(batch.ids.shape[1], batch.ids.device)


def select_scored(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Keep asked positions: (B, T, C), (B, T) → (S, C), (S,)."""
    logits, targets = logits.flatten(0, 1), targets.flatten()
    is_scored = targets != IGNORE
    return (logits, targets) if bool(is_scored.all()) else (logits[is_scored], targets[is_scored])


def evaluate(network: Network, examples: Examples, recipe: Recipe, device: torch.device) -> Measure:
    """Measure a network in eval mode over all asked positions."""
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


def evaluate_in_use(network: Network, examples: Examples, recipe: Recipe, device: torch.device) -> Measure:
    """Measure a network with later characters hidden, as they are yet to come."""
    return evaluate(network, examples, replace(recipe, causal=True), device)


def evaluation_steps(steps: int, n: int = N_EVALUATIONS) -> frozenset[int]:
    """Return `n` evenly spaced steps, and 0."""
    return frozenset(round(steps * i / n) for i in range(n + 1))


def keeps_attention(config: ModelConfig, data: Data) -> bool:
    """Return whether a run's attention stays within `MAX_SNAPSHOT_NUMBERS`."""
    sequence = data.validation[slice(0, 1)]
    n, n_target = sequence.ids.shape[1], sequence.targets.shape[1]
    pairs = n**2 + n_target**2 + n_target * n if data.task.has_decoder else n**2
    return (N_EVALUATIONS + 1) * config.n_layers * config.n_heads * pairs <= MAX_SNAPSHOT_NUMBERS


def take_snapshot(network: Network, data: Data, recipe: Recipe, device: torch.device) -> dict[str, Array]:
    """Return every head's attention on the first validation sequence."""
    trace = Trace(keep=lambda name: name.endswith(".pattern"))
    with torch.inference_mode():
        scores(network, data.validation[slice(0, 1)].to(device), recipe, trace)
    points = {"self": "encoder.layers.{}.attn.pattern"} if isinstance(network, Tagger) else ATTENTION_POINTS
    layers = range(network.config.n_layers)
    return {name: stack_layers(trace, point, layers) for name, point in points.items()}


# --- answers

MAX_TOKENS = 4_096
"""Tokens that effects are measured on."""


@torch.inference_mode()
def score_changed(
    network: Network, examples: Examples, recipe: Recipe, device: torch.device, interventions: Sequence[Change]
) -> float:
    """Return the share of the first answers that are right with changes; a decoder is given the right beginning."""
    batch = examples[slice(0, max(1, MAX_TOKENS // examples.ids.shape[1]))].to(device)
    trace: Trace = UNTRACED
    if interventions:
        trace = InterventionTrace([interventions] * len(batch), batch.mask, keep=None)
    if isinstance(network, EncoderDecoder):
        masks = batch.mask[:, None], batch.decoder_mask[:, None]
        logits = network.decode(batch.decoder_ids, network.encoder(batch.ids, masks[0], trace), *masks)
    else:
        logits = network.head(network.encoder(batch.ids, attention_mask(batch, recipe), trace))
    logits, targets = select_scored(logits, batch.targets)
    return float((logits.argmax(dim=-1) == targets).double().mean())


def next_token_probabilities(tagger: Tagger, read: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return ordinary tokens, likeliest first, and their probabilities of coming next: (K,), (K,)."""
    device = next(tagger.parameters()).device
    with torch.inference_mode():
        logits = tagger(torch.tensor([read], device=device), causal_mask(len(read), device))[0, -1]  # (C,)
    ordered = logits[len(SPECIALS) :].cpu().to(torch.float64).sort(descending=True)
    return len(SPECIALS) + ordered.indices, ordered.values.softmax(0)


def decode_greedily(model: EncoderDecoder, src_ids: Tensor, src_mask: Tensor, longest: int) -> Tensor:
    """Take the most likely token at every step: (B, Ts) → (B, Tt), 0 after [EOS]; InputError over max_len."""
    target = torch.full((len(src_ids), 1), BOS_ID, device=src_ids.device)
    ended = torch.zeros(len(src_ids), 1, dtype=torch.bool, device=src_ids.device)
    keys = src_mask[:, None]  # (B, 1, Ts)
    with torch.inference_mode():
        memory = model.encode(src_ids, keys)
        while target.shape[1] <= longest and not ended.all():
            likeliest = model.decode(target, memory, keys)[:, -1:].argmax(-1)  # (B, 1)
            target = torch.cat([target, likeliest.masked_fill(ended, 0)], 1)
            ended |= likeliest == EOS_ID
    return target[:, 1:].clone()


def write_targets(model: EncoderDecoder, vocabulary: Tokenizer, sources: Batch, longest: int) -> tuple[str, ...]:
    """Return the target of each source in words."""
    device = next(model.parameters()).device
    ids = decode_greedily(model, sources.ids.to(device), sources.mask.to(device), longest)
    return tuple(" ".join(vocabulary.id_to_token(i) for i in row if i > EOS_ID) or EOS for row in ids.tolist())


@dataclass(frozen=True)
class Sample:
    """One sequence with its answers."""

    text: str
    """What the network reads."""
    right_answer: tuple[str, ...]
    answer: tuple[str, ...]

    @property
    def n_wrong(self) -> int:
        """Number of places where the answers differ."""
        return sum(right != answer for right, answer in zip_longest(self.right_answer, self.answer))


def answer_examples(network: Network, data: Data, examples: Examples, recipe: Recipe) -> list[Sample]:
    """Return the answers to some sequences."""
    batch = examples.to(next(network.parameters()).device)
    if isinstance(network, EncoderDecoder):
        rows = decode_greedily(network, batch.ids, batch.mask, examples.targets.shape[1]).cpu()
        answers = [_before_eos(row.tolist()) for row in rows]
    else:
        with torch.inference_mode():
            rows = scores(network, batch, recipe).argmax(-1).cpu()
        answers = [row[targets != IGNORE].tolist() for row, targets in zip(rows, examples.targets, strict=True)]
    return [
        Sample(data.text(ids[mask].tolist()), right_answer(data, targets), tuple(data.labels[i] for i in answer))
        for ids, mask, targets, answer in zip(examples.ids, examples.mask, examples.targets, answers, strict=True)
    ]


def right_answer(data: Data, targets: Tensor) -> tuple[str, ...]:
    """Return the classes of a row of targets (T',), without [EOS]."""
    ids: list[int] = targets[targets != IGNORE].tolist()
    return tuple(data.labels[i] for i in (_before_eos(ids) if data.task.has_decoder else ids))


def _before_eos(ids: list[int]) -> list[int]:
    return ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids
