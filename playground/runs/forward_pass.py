"""One pass of some rows through an encoder, or through some of its layers: what every run is made of.

Legend: B rows, each a sentence; T tokens, padding included; D = d_model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.model import Encoder, Trace, causal_and_padding
from playground.model.trace import UNTRACED
from playground.text import Batch
from playground.text.batch import draw_vectors

EMBEDDINGS = -1
"""Where a pass starts that starts before the layers, which count from 0."""


@dataclass(frozen=True)
class Rows:
    """What goes through an encoder together, on its device."""

    x: Tensor
    """Before the embeddings ids (B, T) int64, or raw vectors (B, T, width of the tables) where there is no token table;
    else what the layer `start` reads, (B, T, D)."""
    mask: Tensor
    """(B or 1, T or 1, T) bool, True = may attend."""
    start: int = EMBEDDINGS

    def at(self, layer: int, stream: Tensor) -> "Rows":
        """These rows from a layer on, which reads `stream`, (B, T, D)."""
        return replace(self, x=stream, start=layer)

    def repeat(self, n: int) -> "Rows":
        """A single row n times, in the same memory."""
        return replace(self, x=self.x.expand(n, *self.x.shape[1:]))


def read_rows(encoder: Encoder, batch: Batch, sentences: Sequence[int], *, seed: int = 0, causal: bool = False) -> Rows:
    """Sentences of a batch as an encoder reads them, padded as the batch is; `causal` hides later tokens.

    An encoder without a token table gets vectors of the words, drawn from the seed; padding's are zero.
    """
    x = torch.stack([_read_sentence(encoder, batch, sentence, seed) for sentence in sentences])
    return Rows(x, read_mask(batch, sentences, causal=causal).to(x.device))


def read_mask(batch: Batch, sentences: Sequence[int], *, causal: bool) -> Tensor:
    """The mask of sentences of a batch, as `Rows` has it."""
    keys = batch.mask[list(sentences)]  # (B, T)
    return causal_and_padding(keys) if causal else keys[:, None]


@torch.inference_mode()
def run_rows(encoder: Encoder, rows: Rows, trace: Trace = UNTRACED, *, end: int | None = None) -> Tensor:
    """Run rows from where they start, without gradients → (B, T, D), what leaves the encoder.

    Args:
        encoder: in its mode, eval or train.
        rows: what goes in, and where.
        trace: says which points to keep; an `InterventionTrace` changes them on the way.
        end: the layer before which the pass ends, without the final norm; with 0, nothing but the embeddings is run.

    Raises:
        InputError: the sentences are longer than the config's max_len.
    """
    x = rows.x
    if rows.start == EMBEDDINGS:
        x = encoder.embed(x, trace.scope("embed")) if encoder.config.vocab_size else encoder.embed_vectors(x, trace)
    return encoder.encode(x, rows.mask, trace, first_layer=max(rows.start, 0), end_layer=end)


def _read_sentence(encoder: Encoder, batch: Batch, sentence: int, seed: int) -> Tensor:
    """Ids (T,) of one sentence, or vectors (T, D) of its words."""
    weights, width = next(encoder.parameters()), encoder.config.embedding_width
    ids, words = batch.ids[sentence], batch.tokens[sentence]
    if encoder.config.vocab_size:
        return ids.to(weights.device)
    padding = torch.zeros(len(ids) - len(words), width)
    return torch.cat([draw_vectors(words, width, seed), padding]).to(weights)
