"""What a pass is given: a sentence's ids or raw vectors, and what interventions need of a batch.

Legend: B rows, each the same sentence with its own interventions. T tokens, padding included.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InterventionError
from playground.model import Encoder, Trace
from playground.model.changes import Change, Subject
from playground.model.interventions import InterventionTrace, divide_changes
from playground.runs.arrays import Array
from playground.runs.forward_pass import read_mask, read_rows, run_rows
from playground.text import Batch

Sources = Mapping[int, Mapping[str, Array]]
"""By sentence, from 0, the arrays of the run that patches take its vectors from; see `Run.arrays`."""


def intervention_subject(config: ModelConfig, batch: Batch, sentence: int = 0, *, causal: bool = False) -> Subject:
    """What interventions on one sentence's run are checked against; `divide_changes` says which apply."""
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
    trace = Trace(names.__contains__)
    run_rows(encoder, read_rows(encoder, batch, [sentence], seed=seed, causal=causal), trace)
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
