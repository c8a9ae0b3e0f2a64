"""Changes of the computation as text in a link."""

from playground.link.interventions.fit_changes import FittedChanges, fit_changes
from playground.link.interventions.read_interventions import MAX_INTERVENTIONS, normalise_changes, read_changes
from playground.link.interventions.write_interventions import Change, write_changes, write_intervention

__all__ = [
    "MAX_INTERVENTIONS",
    "Change",
    "FittedChanges",
    "fit_changes",
    "normalise_changes",
    "read_changes",
    "write_changes",
    "write_intervention",
]
