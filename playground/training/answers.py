"""What a trained network answers: text that it writes, sequences that are new to it, a visitor's sentence.

Legend: B sequences, T tokens, Ts/Tt source/target tokens, L layers, H heads, C classes, S scored positions,
D = d_model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import torch
from torch import Tensor

from playground.errors import InputError
from playground.model import EncoderDecoder, Trace, causal_mask
from playground.model.changes import Change
from playground.model.interventions import InterventionTrace
from playground.model.trace import UNTRACED
from playground.runs.arrays import Array
from playground.text import Batch, Tokenizer
from playground.training.network import Network, Tagger, attention_mask, scores, select_scored
from playground.training.recipe import Recipe
from playground.training.tasks import Data, Examples
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.tasks.task import BOS_ID, EOS, EOS_ID, IGNORE, SPECIALS
from playground.training.trained_network import TrainedNetwork


def generate(
    tagger: Tagger,
    ids: list[int],
    n: int,
    *,
    temperature: float,
    top_k: int,
    generator: torch.Generator,
    window: int | None = None,
) -> Iterator[int]:
    """Write on: yield n tokens, each drawn after the prompt and all that was drawn before.

    Special tokens are never drawn.

    Args:
        tagger: a network whose classes are its tokens, and which was trained not to look ahead.
        ids: the prompt, one token at least.
        n: how many tokens.
        temperature: τ in softmax(logits / τ); 0 = always the most likely token.
        top_k: how many of the most likely tokens may be drawn; 0 = all (Fan et al. 2018, section 5.1).
        generator: on the CPU.
        window: how many of the last tokens the network reads, at most its max_len, which is the default.

    Raises:
        InputError: the prompt is empty, or a number is out of range; later, the network's scores are not finite.
    """
    if not ids:
        raise InputError("The network says what comes next, so that it needs something to start from: one character.")
    if not 0 <= temperature < float("inf"):
        raise InputError(f"temperature={temperature} is not a number from 0, always the likeliest, upwards.")
    for name, value, lowest in (("n", n, 0), ("top_k", top_k, 0), ("window", 1 if window is None else window, 1)):
        if value < lowest:
            raise InputError(f"{name}={value} is below {lowest}.")
    device, longest = next(tagger.parameters()).device, tagger.config.max_len
    width = min(window or longest, longest)

    def write(read: list[int]) -> Iterator[int]:
        for _ in range(n):
            read = read[-width:]
            with torch.inference_mode():  # left before each yield: it would hold for whoever takes the token
                logits = tagger(torch.tensor([read], device=device), causal_mask(len(read), device))[0, -1]  # (C,)
            read.append(draw_token(logits.cpu(), temperature, top_k, generator))
            yield read[-1]

    return write(list(ids))


def draw_token(logits: Tensor, temperature: float, top_k: int, generator: torch.Generator) -> int:
    """One token that is not special, drawn by `next_token_probabilities` from its logits (C,)."""
    tokens, probabilities = next_token_probabilities(logits, temperature, top_k)
    place = 0 if len(tokens) == 1 else int(probabilities.multinomial(1, generator=generator))
    return int(tokens[place])


def next_token_probabilities(logits: Tensor, temperature: float, top_k: int) -> tuple[Tensor, Tensor]:
    """The tokens that may be drawn, likeliest first, and their probabilities, which add up to 1: (K,), (K,) float64.

    The logits, (C,), are of all tokens; special ones are left out. InputError where they are not finite.
    """
    ordinary = logits[len(SPECIALS) :].to(torch.float64)
    if not ordinary.isfinite().all():
        raise InputError("The network's scores are no finite numbers: its training diverged, and it can say nothing.")
    n = 1 if temperature == 0 else min(top_k or len(ordinary), len(ordinary))
    best = ordinary.topk(n)
    scaled = (best.values - best.values[0]) / (temperature or 1.0)  # the best is 0: none overflows
    return len(SPECIALS) + best.indices, scaled.softmax(0)


def decode_greedily(model: EncoderDecoder, src_ids: Tensor, src_mask: Tensor | None, longest: int) -> Tensor:
    """The target of each source, at every step the most likely token: (B, Ts) → (B, Tt), [EOS] included, 0 after it.

    Args:
        model: a trained encoder–decoder.
        src_ids: (B, Ts) int64.
        src_mask: (B, Ts) bool, True = a token; None where there is no padding.
        longest: most tokens of a target, which is cut off there; InputError where the position table is shorter.
    """
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
    """The target of each source in words, as `decode_greedily` finds it; [EOS] where it writes nothing before."""
    device = next(model.parameters()).device
    ids = decode_greedily(model, sources.ids.to(device), sources.mask.to(device), longest)
    return tuple(" ".join(vocabulary.id_to_token(i) for i in row if i > EOS_ID) or EOS for row in ids.tolist())


@dataclass(frozen=True)
class Sample:
    """One sequence."""

    text: str
    """What the network reads."""
    right_answer: tuple[str, ...]
    """A class for each position that is asked for."""
    answer: tuple[str, ...]
    """The network's; of a decoder, it may be longer or shorter."""

    @property
    def n_wrong(self) -> int:
        """Places at which the two answers differ, one that only one of them has included."""
        return sum(right != answer for right, answer in zip_longest(self.right_answer, self.answer))


def answer_samples(network: Network, data: Data, recipe: Recipe, n: int = 8) -> list[Sample]:
    """The answers of a network in eval mode to the first `n` validation sequences, behind the recipe's masks.

    A decoder takes the likeliest token at every step.
    """
    return answer_examples(network, data, data.validation[slice(0, n)], recipe)


def answer_examples(network: Network, data: Data, examples: Examples, recipe: Recipe) -> list[Sample]:
    """The network's answers to some sequences, as `answer_samples` has them."""
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
    """The classes that a row of targets (T',) asks for, by name; without a decoder's [EOS]."""
    ids: list[int] = targets[targets != IGNORE].tolist()
    return tuple(data.labels[i] for i in (_before_eos(ids) if data.task.has_decoder else ids))


def _before_eos(ids: list[int]) -> list[int]:
    """The tokens before the first [EOS], or all of them."""
    return ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids


def right_answers(trained: TrainedNetwork, ids: list[int], unknown: list[bool]) -> list[int] | None:
    """The right class of every token of a sentence; None where the network's task has no answer for it.

    That is so for tasks of a decoder and of hidden characters, and for a sentence that is longer than the recipe's or
    has symbols that were never learnt. The last token has `IGNORE` where the next one is asked.

    Args:
        trained: the network.
        ids: the sentence's token ids, without padding.
        unknown: which of them stand for what the vocabulary lacks.
    """
    task = trained.task
    if task.has_decoder or not ids or any(unknown) or len(ids) > trained.recipe.length:
        return None
    if task.predicts_next:
        return [*ids[1:], IGNORE]
    if not isinstance(task, MadeUpTask) or min(ids) < task.first_id:
        return None
    answers: list[int] = task.examples(torch.tensor([ids]), trained.recipe.length).targets[0].tolist()
    return answers if max(answers) < len(trained.labels) else None


def answer_probabilities(network: Tagger, final: Array) -> Array:
    """What the network's head makes of vectors that have left its encoder: (T, D) → (T, C)."""
    x = torch.from_numpy(np.array(final)).to(network.head.weight)
    with torch.inference_mode():
        probabilities: Array = network.head(x).softmax(dim=-1).cpu().numpy()
    return probabilities


MAX_TOKENS = 4_096
"""Tokens of the sequences that effects are measured on: as many whole sequences as fit."""


@dataclass(frozen=True)
class TaskScore:
    """What a network's answers are worth."""

    accuracy: float
    """The share of asked positions where the likeliest class is the right one."""
    probability: float
    """The probability of the right class, averaged over the asked positions."""


def first_sequences(examples: Examples) -> Examples:
    """The first of some sequences, of at most `MAX_TOKENS` tokens, padding included; one at least."""
    return examples[slice(0, max(1, MAX_TOKENS // examples.ids.shape[1]))]


@torch.inference_mode()
def score_changed(
    network: Network, examples: Examples, recipe: Recipe, device: torch.device, interventions: Sequence[Change]
) -> TaskScore:
    """What is right with the same interventions on the encoder in every sequence; the network is in eval mode.

    A decoder is given the right beginning of every answer, as in training. Interventions name no token, as sequences
    differ: heads and sublayers alone.
    """
    batch = examples.to(device)
    trace: Trace = UNTRACED
    if interventions:
        trace = InterventionTrace([interventions] * len(batch), batch.mask, keep=None)
    logits, targets = select_scored(_scores(network, batch, recipe, trace), batch.targets)
    right = logits.softmax(dim=-1).gather(-1, targets[:, None])  # (S, 1)
    is_right = logits.argmax(dim=-1) == targets
    return TaskScore(float(is_right.double().mean()), float(right.double().mean()))


def _scores(network: Network, batch: Examples, recipe: Recipe, trace: Trace) -> Tensor:
    """As `network.scores`, with a trace of the encoder's own names: (B, T', C)."""
    if isinstance(network, EncoderDecoder):
        masks = (batch.mask[:, None], batch.decoder_mask[:, None])
        source_mask, target_mask = masks if recipe.mask_padding else (None, None)
        memory = network.encoder(batch.ids, source_mask, trace)
        return network.decode(batch.decoder_ids, memory, source_mask, target_mask)
    logits: Tensor = network.head(network.encoder(batch.ids, attention_mask(batch, recipe), trace))
    return logits
