"""What a trained network should answer to a sentence of the visitor, and what it gives the right answers.

Legend: T tokens of the sentence, C classes, D = d_model.
"""

import numpy as np
import torch

from playground.runs.arrays import Array
from playground.training.after.trained_network import TrainedNetwork
from playground.training.network import Tagger
from playground.training.tasks.examples import IGNORE
from playground.training.tasks.made_up import MadeUpTask


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
