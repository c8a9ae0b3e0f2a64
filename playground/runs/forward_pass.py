"""One pass of some rows through an encoder, or through some of its layers.

B rows, each a sentence or a variant; T tokens, padding included; D = d_model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InterventionError
from playground.model import Encoder, Trace, causal_and_padding
from playground.model.changes import Change, Subject
from playground.model.interventions import InterventionTrace, divide_changes
from playground.model.trace import UNTRACED
from playground.runs.arrays import Array
from playground.text import Batch
from playground.text.tokenizer import draw_vectors

EMBEDDINGS = -1
"""The start of a whole pass; layers count from 0."""


@dataclass(frozen=True)
class Rows:
    """What goes through an encoder together."""

    x: Tensor
    """Ids (B, T), raw vectors (B, T, width), or what layer `start` reads, (B, T, D)."""
    mask: Tensor
    """(B or 1, T or 1, T) bool, True = may attend."""
    start: int = EMBEDDINGS

    def at(self, layer: int, stream: Tensor) -> "Rows":
        """These rows from a layer on, which reads `stream`."""
        return replace(self, x=stream, start=layer)

    def repeat(self, n: int) -> "Rows":
        """A single row n times, in the same memory."""
        return replace(self, x=self.x.expand(n, *self.x.shape[1:]))


def read_rows(encoder: Encoder, batch: Batch, sentences: Sequence[int], *, seed: int = 0, causal: bool = False) -> Rows:
    """Return sentences of a batch as an encoder reads them; `causal` hides later tokens."""
    x = torch.stack([_read_sentence(encoder, batch, sentence, seed) for sentence in sentences])
    return Rows(x, read_mask(batch, sentences, causal=causal).to(x.device))


def read_mask(batch: Batch, sentences: Sequence[int], *, causal: bool) -> Tensor:
    """Return the mask of sentences of a batch."""
    keys = batch.mask[list(sentences)]  # (B, T)
    return causal_and_padding(keys) if causal else keys[:, None]


@torch.inference_mode()
def run_rows(encoder: Encoder, rows: Rows, trace: Trace = UNTRACED, *, end: int | None = None) -> Tensor:
    """Run rows without gradients → (B, T, D), what leaves the encoder, or enters layer `end`."""
    x = rows.x
    if rows.start == EMBEDDINGS:
        x = encoder.embed(x, trace.scope("embed")) if encoder.config.vocab_size else encoder.embed_vectors(x, trace)
    return encoder.encode(x, rows.mask, trace, first_layer=max(rows.start, 0), end_layer=end)


def _read_sentence(encoder: Encoder, batch: Batch, sentence: int, seed: int) -> Tensor:
    weights, width = next(encoder.parameters()), encoder.config.embedding_width
    ids, words = batch.ids[sentence], batch.tokens[sentence]
    if encoder.config.vocab_size:
        return ids.to(weights.device)
    padding = torch.zeros(len(ids) - len(words), width)
    return torch.cat([draw_vectors(words, width, seed), padding]).to(weights)


Sources = Mapping[int, Mapping[str, Array]]
"""By sentence, the arrays that patches take from."""


def intervention_subject(config: ModelConfig, batch: Batch, sentence: int = 0, *, causal: bool = False) -> Subject:
    """Return what interventions on one sentence's run are checked against."""
    n_tokens = batch.mask.shape[1]
    allowed = read_mask(batch, [sentence], causal=causal)[0].expand(n_tokens, n_tokens)
    return Subject(config, allowed, tuple(batch.mask.sum(dim=1).tolist()), sentence)


def intervention_trace(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    rows: Sequence[Sequence[Change]],
    *,
    seed: int,
    causal: bool,
    keep: Callable[[str], bool] | None,
    sources: Sources | None = None,
) -> Trace:
    """Return the trace of one pass over copies of a sentence, a row each; InterventionError if a row cannot be.

    Patches take from `sources`, else from untouched runs.
    """
    every = [each for interventions in rows for each in interventions if each.strength != 0]
    if not every and keep is not None:
        return Trace(keep)
    subject = intervention_subject(encoder.config, batch, sentence, causal=causal)
    for interventions in rows:
        _, refused = divide_changes(subject, tuple(interventions))
        for _, reason in refused:
            raise InterventionError(reason)
    device = next(encoder.parameters()).device
    moves = any(each.kind == "shuffle" for each in every)
    names: dict[int, set[str]] = {}
    for each in every:
        if each["sentence"] is not None:
            names.setdefault(each["sentence"], set()).add(each.point)
    return InterventionTrace(
        rows,
        batch.mask[sentence].expand(len(rows), -1).to(device),
        positions=encoder.embed.position_vectors(batch.mask.shape[1]) if moves else None,
        sources={
            number: {name: torch.tensor(sources[number][name], device=device) for name in wanted}
            if sources and number in sources
            else _run_source(encoder, batch, number, wanted, seed=seed, causal=causal)
            for number, wanted in names.items()
        },
        keep=keep,
    )


def _run_source(
    encoder: Encoder, batch: Batch, sentence: int, names: set[str], *, seed: int, causal: bool
) -> dict[str, Tensor]:
    trace = Trace(names.__contains__)
    run_rows(encoder, read_rows(encoder, batch, [sentence], seed=seed, causal=causal), trace)
    return {name: tensor[0] for name, tensor in trace.items()}
