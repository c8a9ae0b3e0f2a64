"""What an encoder takes of a sentence: ids, or raw vectors where it has no token table.

Legend: B sentences, T tokens, padding included, D = d_model.
"""

import torch
from torch import Tensor

from playground.model import Encoder, Trace
from playground.model.trace import UNTRACED, or_untraced
from playground.text import Batch
from playground.text.word_vectors import draw_vectors


def sentence_input(encoder: Encoder, batch: Batch, sentence: int, seed: int) -> Tensor:
    """Ids (T,) int64 of one sentence, padded as its batch is; without a token table, vectors (T, D) on its words.

    The vectors are drawn from the seed; padding's are zero.
    """
    weights, d_model = next(encoder.parameters()), encoder.config.d_model
    ids, words = batch.ids[sentence], batch.tokens[sentence]
    if encoder.config.vocab_size:
        return ids.to(weights.device)
    padding = torch.zeros(len(ids) - len(words), d_model)
    return torch.cat([draw_vectors(words, d_model, seed), padding]).to(weights)


def embed_input(encoder: Encoder, x: Tensor, trace: Trace) -> Tensor:
    """Embed ids (B, T) or vectors (B, T, D), as `sentence_input` makes them → (B, T, D), with `embed.` in the trace."""
    return encoder.embed(x, trace.scope("embed")) if encoder.config.vocab_size else encoder.embed_vectors(x, trace)


def encode_input(encoder: Encoder, x: Tensor, mask: Tensor | None, trace: Trace | None = UNTRACED) -> Tensor:
    """Encode ids (B, T) or vectors (B, T, D), as `sentence_input` makes them → (B, T, D); else as `Encoder.forward`."""
    return encoder.encode(embed_input(encoder, x, or_untraced(trace)), mask, trace)
