"""What a pass is given: a sentence's ids or raw vectors, and what interventions need of a batch.

Legend: B sentences; T tokens, padding included; D = d_model; B rows, each the same sentence with its own
interventions.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InterventionError
from playground.model import Encoder, Trace, causal_and_padding
from playground.model.changes import Change, Subject
from playground.model.interventions import InterventionTrace, divide_changes
from playground.model.trace import UNTRACED, or_untraced
from playground.runs.arrays import Array
from playground.text import Batch
from playground.text.batch import draw_vectors


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


Sources = Mapping[int, Mapping[str, Array]]
"""By sentence, from 0, the arrays of the run that patches take its vectors from; see `Run.arrays`."""


def sentence_mask(batch: Batch, sentence: int, *, causal: bool) -> Tensor:
    """A sentence's mask, True = may attend: (1, T) over keys, (1, T, T) where later tokens are hidden."""
    keys = batch.mask[sentence : sentence + 1]
    return causal_and_padding(keys) if causal else keys


def intervention_subject(config: ModelConfig, batch: Batch, sentence: int = 0, *, causal: bool = False) -> Subject:
    """What interventions on one sentence's run are checked against; `divide_changes` says which apply."""
    n_tokens = batch.mask.shape[1]
    allowed = sentence_mask(batch, sentence, causal=causal)[0].expand(n_tokens, n_tokens)
    return Subject(config, allowed, tuple(batch.mask.sum(dim=1).tolist()), sentence)


def intervention_trace(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    rows: Sequence[Sequence[Change]],
    *,
    seed: int,
    causal: bool,
    sources: Sources | None,
    keep: Callable[[str], bool] | None,
) -> Trace:
    """A trace for one pass over copies of a sentence, a row each; a plain one where nothing is changed and all is kept.

    Raises:
        InterventionError: an intervention cannot apply beside the others of its row.
    """
    if keep is not None and not any(rows):
        return Trace(keep)
    subject = intervention_subject(encoder.config, batch, sentence, causal=causal)
    for interventions in rows:
        _, refused = divide_changes(subject, tuple(interventions))
        for _, reason in refused:
            raise InterventionError(reason)
    every = [each for interventions in rows for each in interventions if each.strength != 0]
    if not every and keep is not None:
        return Trace(keep)
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
            number: _read_source(sources[number], wanted, encoder)
            if sources and number in sources
            else _run_source(encoder, batch, number, wanted, seed=seed, causal=causal)
            for number, wanted in names.items()
        },
        keep=keep,
    )


def _run_source(
    encoder: Encoder, batch: Batch, sentence: int, names: set[str], *, seed: int, causal: bool
) -> dict[str, Tensor]:
    """The points of a sentence's untouched pass, without their sentence axis."""
    trace, device = Trace(names.__contains__), next(encoder.parameters()).device
    x = sentence_input(encoder, batch, sentence, seed)[None]
    with torch.inference_mode():
        encode_input(encoder, x, sentence_mask(batch, sentence, causal=causal).to(device), trace)
    return {name: tensor[0] for name, tensor in trace.items()}


def _read_source(arrays: Mapping[str, Array], names: set[str], encoder: Encoder) -> dict[str, Tensor]:
    """The points of a run that is at hand.

    Raises:
        InterventionError: that run has not kept one of them.
    """
    missing = sorted(names - set(arrays))
    if missing:
        raise InterventionError(f"The run that vectors are taken from has not kept {missing[0]}.")
    weights = next(encoder.parameters())
    return {name: torch.tensor(arrays[name]).to(weights) for name in names}
