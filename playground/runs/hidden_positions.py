"""One sentence in many variants, in each of which one layer's attention does not see one token.

Legend: N variants, T tokens, padding included, D = d_model.
"""

from collections.abc import Sequence

import torch

from playground.model import Encoder
from playground.runs.arrays import Array, to_array
from playground.runs.encoder_run import Run
from playground.runs.forward_pass import Rows, run_rows
from playground.runs.variant_runs import read_streams


def run_hidden_positions(encoder: Encoder, untouched: Run, layer: int, positions: Sequence[int]) -> Array:
    """What leaves the encoder where a layer's other tokens may not attend to a position, in any head: (N, T, D).

    The token itself still may. That is one mask a variant: the same as cutting each of these pairs before the softmax,
    as `HideToken` does, and padding's rows stay as they are.

    Args:
        encoder: the model of the run.
        untouched: the sentence's run that nothing changes.
        layer: in which the tokens are hidden, from 0.
        positions: the token that is hidden in each variant.
    """
    stream = read_streams(untouched, encoder)[layer]  # (1, T, D)
    allowed, padding = torch.tensor(untouched.allowed), torch.tensor(untouched.padding)
    masks = allowed.expand(len(positions), -1, -1).clone()  # (N, T, T)
    for mask, position in zip(masks, positions, strict=True):
        readers = ~padding
        readers[position] = False
        mask[readers, position] = False
    rows = Rows(stream, masks.to(stream.device), layer).repeat(len(positions))
    after = Rows(run_rows(encoder, rows, end=layer + 1), allowed[None].to(stream.device), layer + 1)
    return to_array(run_rows(encoder, after))
