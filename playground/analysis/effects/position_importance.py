"""Which tokens matter where: in each layer, each is hidden from the others in turn. Legend: T tokens, S sentences."""

from collections.abc import Sequence

import numpy as np

from playground.analysis.effects.part_importance import cosines
from playground.analysis.effects.sentence_vectors import Pooling, pool, sentence_vector
from playground.analysis.effects.vector_changes import compare_vectors
from playground.model import Encoder
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.hidden_positions import run_hidden_positions


def measure_positions(
    encoder: Encoder, untouched: Run, layer: int, positions: Sequence[int], others: Array, *, pooling: Pooling = "mean"
) -> tuple[Array, Array]:
    """What follows where no other token of a layer sees a position, in any head; as `PartEffect` has it.

    Args:
        encoder: the model of the run.
        untouched: the sentence's run that nothing changes.
        layer: in which the positions are hidden.
        positions: one at a time.
        others: vectors of other sentences, (S, D).

    Returns:
        The relative change of the sentence's vector, (positions,), and its cosines with the others, (positions, S).
    """
    before = sentence_vector(untouched, pooling)
    after = pool(run_hidden_positions(encoder, untouched, layer, positions), untouched.padding, pooling)
    return compare_vectors(np.broadcast_to(before, after.shape), after).relative, cosines(after, others)
