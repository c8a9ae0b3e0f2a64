"""What a trained network answers: text, new sequences, a visitor's sentence; also with heads switched off.

Legend: B sequences, T tokens, Ts/Tt source/target tokens, C classes, S scored positions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from playground.errors import InputError
from playground.model import EncoderDecoder, Trace, causal_mask
from playground.model.changes import Change
from playground.model.interventions import InterventionTrace
from playground.model.trace import UNTRACED
from playground.text import Batch, Tokenizer
from playground.training.network import Network, Tagger, attention_mask, scores, select_scored
from playground.training.recipe import Recipe
from playground.training.tasks import Data, Examples
from playground.training.tasks.task import BOS_ID, EOS, EOS_ID, IGNORE, SPECIALS

MAX_TOKENS = 4_096
"""Tokens that effects are measured on."""


def generate(
    tagger: Tagger, ids: list[int], temperature: float, top_k: int, generator: torch.Generator, window: int
) -> Iterator[int]:
    """Yield tokens without end, each drawn after the prompt `ids` and those before; never a special one.

    Args:
        tagger: trained not to look ahead.
        ids: the prompt; InputError if it is empty.
        temperature: τ in softmax(logits / τ); 0 = the most likely.
        top_k: candidates; 0 = all (Fan et al. 2018, section 5.1).
        generator: on the CPU.
        window: last tokens that are read.
    """
    if not ids:
        raise InputError("The network says what comes next, so that it needs something to start from: one character.")
    while True:
        tokens, probabilities = next_tokens(tagger, ids[-window:], temperature, top_k)
        place = 0 if len(tokens) == 1 else int(probabilities.multinomial(1, generator=generator))
        ids = [*ids, int(tokens[place])]
        yield ids[-1]


def next_tokens(tagger: Tagger, read: list[int], temperature: float, top_k: int) -> tuple[Tensor, Tensor]:
    """Return candidates, likeliest first, and their probabilities: (K,), (K,)."""
    device = next(tagger.parameters()).device
    with torch.inference_mode():
        logits = tagger(torch.tensor([read], device=device), causal_mask(len(read), device))[0, -1]  # (C,)
    return next_token_probabilities(logits.cpu(), temperature, top_k)


def next_token_probabilities(logits: Tensor, temperature: float, top_k: int) -> tuple[Tensor, Tensor]:
    """Return those of logits (C,); InputError if they are not finite."""
    ordinary = logits[len(SPECIALS) :].to(torch.float64)
    if not ordinary.isfinite().all():
        raise InputError("The network's scores are no finite numbers: its training diverged, and it can say nothing.")
    n = 1 if temperature == 0 else min(top_k or len(ordinary), len(ordinary))
    best = ordinary.topk(n)
    scaled = (best.values - best.values[0]) / (temperature or 1.0)  # the best is 0: none overflows
    return len(SPECIALS) + best.indices, scaled.softmax(0)


def decode_greedily(model: EncoderDecoder, src_ids: Tensor, src_mask: Tensor | None, longest: int) -> Tensor:
    """Take the most likely token at every step: (B, Ts) → (B, Tt), 0 after [EOS]; InputError over max_len."""
    target = torch.full((len(src_ids), 1), BOS_ID, device=src_ids.device)
    ended = torch.zeros(len(src_ids), 1, dtype=torch.bool, device=src_ids.device)
    keys = None if src_mask is None else src_mask[:, None]  # (B, 1, Ts)
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
    """One sequence."""

    text: str
    """What the network reads."""
    right_answer: tuple[str, ...]
    answer: tuple[str, ...]

    @property
    def n_wrong(self) -> int:
        """Return the number of places where the answers differ."""
        return sum(right != answer for right, answer in zip_longest(self.right_answer, self.answer))


def answer_samples(network: Network, data: Data, recipe: Recipe, n: int = 8) -> list[Sample]:
    """Return the answers to the first `n` validation sequences."""
    return answer_examples(network, data, data.validation[slice(0, n)], recipe)


def answer_examples(network: Network, data: Data, examples: Examples, recipe: Recipe) -> list[Sample]:
    """Return the answers to some sequences."""
    batch = examples.to(next(network.parameters()).device)
    if isinstance(network, EncoderDecoder):
        mask, longest = batch.mask if recipe.mask_padding else None, examples.targets.shape[1]
        rows = decode_greedily(network, batch.ids, mask, longest).cpu()
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


@dataclass(frozen=True)
class TaskScore:
    """How right answers are, and the mean probability of the right class."""

    accuracy: float
    probability: float


def first_sequences(examples: Examples) -> Examples:
    """Return the first sequences within `MAX_TOKENS`, one at least."""
    return examples[slice(0, max(1, MAX_TOKENS // examples.ids.shape[1]))]


@torch.inference_mode()
def score_changed(
    network: Network, examples: Examples, recipe: Recipe, device: torch.device, interventions: Sequence[Change]
) -> TaskScore:
    """Score with the same interventions in every sequence; a decoder is given the right beginning."""
    batch = examples.to(device)
    trace: Trace = UNTRACED
    if interventions:
        trace = InterventionTrace([interventions] * len(batch), batch.mask, keep=None)
    logits, targets = select_scored(_scores(network, batch, recipe, trace), batch.targets)
    right = logits.softmax(dim=-1).gather(-1, targets[:, None])  # (S, 1)
    is_right = logits.argmax(dim=-1) == targets
    return TaskScore(float(is_right.double().mean()), float(right.double().mean()))


def _scores(network: Network, batch: Examples, recipe: Recipe, trace: Trace) -> Tensor:
    """Return the logits of `network.scores`, with a trace of the encoder alone."""
    if isinstance(network, EncoderDecoder):
        masks = (batch.mask[:, None], batch.decoder_mask[:, None]) if recipe.mask_padding else (None, None)
        return network.decode(batch.decoder_ids, network.encoder(batch.ids, masks[0], trace), *masks)
    logits: Tensor = network.head(network.encoder(batch.ids, attention_mask(batch, recipe), trace))
    return logits
