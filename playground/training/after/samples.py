"""What a network answers to sequences that it has not learnt from, beside the right answers."""

from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from playground.model import EncoderDecoder
from playground.training.after.generate import decode_greedily
from playground.training.evaluation import scores
from playground.training.network import Network
from playground.training.recipe import Recipe
from playground.training.tasks import Data
from playground.training.tasks.examples import EOS_ID, IGNORE


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
