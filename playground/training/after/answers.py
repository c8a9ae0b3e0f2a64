"""What a trained network answers: to sequences that it has not learnt from, to a visitor's sentence, and changed.

Legend: B sequences, T tokens, S scored positions, C classes, D = d_model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import torch
from torch import Tensor

from playground.model import EncoderDecoder, Trace
from playground.model.interventions import Intervention, InterventionTrace
from playground.model.trace import UNTRACED
from playground.runs.arrays import Array
from playground.training.after.generate import decode_greedily
from playground.training.after.trained_network import TrainedNetwork
from playground.training.evaluation import attention_mask, scores, select_scored
from playground.training.network import Network, Tagger
from playground.training.recipe import Recipe
from playground.training.tasks import Data, Examples
from playground.training.tasks.examples import EOS_ID, IGNORE
from playground.training.tasks.made_up import MadeUpTask


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
    examples = data.validation[slice(0, n)]
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
    network: Network, examples: Examples, recipe: Recipe, device: torch.device, interventions: Sequence[Intervention]
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
    """As `evaluation.scores`, with a trace of the encoder's own names: (B, T', C)."""
    if isinstance(network, EncoderDecoder):
        masks = (batch.mask[:, None], batch.decoder_mask[:, None])
        source_mask, target_mask = masks if recipe.mask_padding else (None, None)
        memory = network.encoder(batch.ids, source_mask, trace)
        return network.decode(batch.decoder_ids, memory, source_mask, target_mask)
    logits: Tensor = network.head(network.encoder(batch.ids, attention_mask(batch, recipe), trace))
    return logits
