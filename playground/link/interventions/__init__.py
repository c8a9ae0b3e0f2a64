"""Interventions as text in a link."""

from playground.link.interventions.read_interventions import read_interventions
from playground.link.interventions.write_interventions import write_interventions

__all__ = ["read_interventions", "write_interventions"]
