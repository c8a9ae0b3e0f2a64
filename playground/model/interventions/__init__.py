"""What if: a forward pass with parts of it switched off, cut, set or replaced."""

from playground.model.interventions.intervention_checks import Subject
from playground.model.interventions.intervention_edits import point_of, rank
from playground.model.interventions.intervention_kinds import (
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
    first_layer,
)
from playground.model.interventions.intervention_trace import InterventionTrace

__all__ = [
    "AverageHead",
    "HideToken",
    "Intervention",
    "InterventionTrace",
    "PatchVector",
    "SetRow",
    "SetWeight",
    "ShufflePositions",
    "SkipSublayer",
    "Subject",
    "ZeroHead",
    "first_layer",
    "point_of",
    "rank",
]
