"""What a network answers to sequences that it has not learnt from, beside the right answers."""

from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from playground.model import EncoderDecoder
from playground.training.after.generate import greedy
from playground.training.losses import IGNORE
from playground.training.network import Network, scores
from playground.training.recipe import Recipe
from playground.training.tasks.data import BOS_ID, EOS_ID, Data


@dataclass(frozen=True)
class Trial:
    """One sequence.

    Attributes:
        asked: what the network reads, as text.
        right: the right answers, a class each.
        said: the network's; of a decoder, it may be longer or shorter.
    """

    asked: str
    right: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def n_wrong(self) -> int:
        """Places at which the two differ, one that only one of them has included."""
        return sum(right != said for right, said in zip_longest(self.right, self.said))


def trials(network: Network, data: Data, recipe: Recipe, n: int = 8) -> list[Trial]:
    """Ask the first `n` validation sequences; a decoder speaks for itself, the likeliest token at every step.

    Args:
        network: in eval mode.
        data: the recipe's.
        recipe: the masks that it leaves on.
        n: how many.
    """
    examples = data.validation[slice(0, n)]
    batch = examples.to(next(network.parameters()).device)
    if isinstance(network, EncoderDecoder):
        mask, longest = batch.mask if recipe.mask_padding else None, examples.targets.shape[1]
        rows = greedy(network, batch.ids, mask, bos=BOS_ID, eos=EOS_ID, longest=longest).cpu()
        said = [_sentence(row) for row in rows]
    else:
        with torch.inference_mode():
            rows = scores(network, batch, recipe).argmax(-1).cpu()
        said = [row[targets != IGNORE].tolist() for row, targets in zip(rows, examples.targets, strict=True)]
    return [
        Trial(data.text(ids[mask].tolist()), right_answer(data, targets), tuple(data.labels[i] for i in answer))
        for ids, mask, targets, answer in zip(examples.ids, examples.mask, examples.targets, said, strict=True)
    ]


def right_answer(data: Data, targets: Tensor) -> tuple[str, ...]:
    """The classes that a row of targets (T',) asks for, by name; without a decoder's [EOS]."""
    asked = targets[targets != IGNORE]
    ids: list[int] = _sentence(asked) if data.task.kind == "seq2seq" else asked.tolist()
    return tuple(data.labels[i] for i in ids)


def _sentence(said: Tensor) -> list[int]:
    """The tokens before the first [EOS], or all of them."""
    ids: list[int] = said.tolist()
    return ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids
