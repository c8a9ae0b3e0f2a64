"""Which changes of a link the run of its sentence can have."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from playground.config import ModelConfig
from playground.link.interventions.write_interventions import Change
from playground.model.interventions import Intervention
from playground.model.interventions.idle_interventions import find_idle
from playground.runs.inputs import intervention_subject
from playground.text import Batch


class FittedChanges(NamedTuple):
    """The changes that are switched on, divided by whether the run can have them."""

    applied: tuple[Intervention, ...] = ()
    reasons: Mapping[Intervention, str] = {}
    """Of those that cannot apply: why not, in one sentence each."""
    idle: Mapping[Intervention, str] = {}
    """Of those that are applied and change nothing that follows: what is off, as the rest of a sentence."""


def fit_changes(
    changes: Iterable[Change], config: ModelConfig, batch: Batch, sentence: int, *, causal: bool
) -> FittedChanges:
    """Divide the changes for one sentence of a batch, counted from 0; of two that exclude each other the first is in.

    With strength 0 a change applies and changes nothing.
    """
    subject = intervention_subject(config, batch, sentence, causal=causal)
    applied, refused = subject.fit(tuple(change.intervention for change in changes if change.is_on))
    return FittedChanges(applied, dict(refused), find_idle(applied, config.n_heads))
