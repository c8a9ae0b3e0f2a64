"""What a trained network can still do with a part of its encoder changed: its answers to validation sequences.

The change is the same in every sequence. Legend: B sequences, T tokens, S scored positions, C classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.model import EncoderDecoder, Trace
from playground.model.changes import Change
from playground.model.interventions import InterventionTrace
from playground.model.trace import UNTRACED
from playground.training.evaluation import attention_mask, select_scored
from playground.training.network import Network
from playground.training.recipe import Recipe
from playground.training.tasks import Examples

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
    """As `evaluation.scores`, with a trace of the encoder's own names: (B, T', C)."""
    if isinstance(network, EncoderDecoder):
        masks = (batch.mask[:, None], batch.decoder_mask[:, None])
        source_mask, target_mask = masks if recipe.mask_padding else (None, None)
        memory = network.encoder(batch.ids, source_mask, trace)
        return network.decode(batch.decoder_ids, memory, source_mask, target_mask)
    logits: Tensor = network.head(network.encoder(batch.ids, attention_mask(batch, recipe), trace))
    return logits
