"""Changes of the computation as text in a link."""

from playground.link.interventions.fit_changes import FittedChanges, fit_changes
from playground.link.interventions.read_interventions import MAX_INTERVENTIONS, read_changes, read_parameter
from playground.link.interventions.write_interventions import Change, Changes, write_changes, write_intervention

__all__ = [
    "MAX_INTERVENTIONS",
    "Change",
    "Changes",
    "FittedChanges",
    "fit_changes",
    "read_changes",
    "read_parameter",
    "write_changes",
    "write_intervention",
]
